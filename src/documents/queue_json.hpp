#pragma once

#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

namespace holdfast {

/// The documented JSON of the queues of a store.
std::string queues_json(const Engine& engine, const std::vector<QueueStatus>& queues);

}  // namespace holdfast
