#pragma once

#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "cli/terminal.hpp"

namespace holdfast::cli {

/// Reads an id as typed; throws `InvalidRequest` where it is none.
TaskId parse_task_id(const std::string& text);
std::vector<TaskId> parse_task_ids(const std::vector<std::string>& texts);

/// The task, or an `InvalidRequest` that says there is none.
TaskRecord require_task(const Inspector& inspector, TaskId id);

Colour colour_of(TaskState state);

/// What is remarkable about a task, in a few words: the error, the cause, when it will run.
std::string remark(const TaskRecord& task, WallTime now);

}  // namespace holdfast::cli
