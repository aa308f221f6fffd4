#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/inspector.hpp>

namespace holdfast {

std::string_view to_string(WorkerState state);
/// The state, or `draining` of one that is running and claims nothing more.
std::string_view standing_of(const WorkerStatus& worker);

/// The documented JSON of a worker.
std::string worker_json(const WorkerStatus& worker, WallTime now);

/// Who is at work is of more interest than who was.
void running_first(std::vector<WorkerStatus>& workers);

}  // namespace holdfast
