#pragma once

#include <span>
#include <vector>

#include "engines/redis/store.hpp"
#include "tasks/task_admin.hpp"

namespace holdfast::redis {

/// The tasks that are in the store, in the order of their ids here.
std::vector<TaskRecord> read_records(Store& store, std::span<const TaskId> ids);

/// Entries of a task's history and log as they are kept; the texts are those that the scripts
/// write.
RecordedTransition parse_history(std::string_view text);
std::string history_text(const RecordedTransition& row);
LogLine parse_log(std::string_view text);
std::string log_text(const LogLine& line);

}  // namespace holdfast::redis
