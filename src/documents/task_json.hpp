#pragma once

#include <string>
#include <vector>

#include <holdfast/task.hpp>

namespace holdfast {

/// The documented JSON of a task.
std::string task_json(const TaskRecord& task);
/// The same with everything that happened to it.
std::string task_json(const TaskRecord& task, const std::vector<Transition>& history);
std::string transition_json(const Transition& step);
std::string log_line_json(const LogLine& line);

}  // namespace holdfast
