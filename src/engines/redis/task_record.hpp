#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/redis/store.hpp"
#include "tasks/task_admin.hpp"

namespace holdfast::redis {

/// What changes in the plain life of a task; see records.lua. The views are of its text.
struct RowText {
  TaskState state = TaskState::pending;
  Token token{};
  int attempt = 0;
  int priority = 0;
  WallTime created_at{};
  WallTime run_at{};
  std::string_view worker{};  ///< who holds it, or held it last
  std::string_view claimed_at{}, finished_at{};
  std::string_view result{};  ///< if it is short
  std::string_view lane{};
};
/// Nothing for a task that is not there.
std::optional<RowText> parse_row(const Value& text);
RowText parse_row(std::string_view text);
Command read_rows(const Store& store, std::span<const std::string> ids);

/// The tasks that are in the store, in the order of their ids here. Of longer payloads and results
/// only the beginning is fetched; see `TaskPage`.
std::vector<TaskRecord> read_records(
    Store& store, std::span<const TaskId> ids,
    std::size_t longest_text = std::numeric_limits<std::size_t>::max());

/// Reads what is before the payload in the body of a task, at least.
Command read_begin_of_body(const Store& store, const std::string& id,
                           std::size_t longest_payload = 0);

/// Entries of a task's history and log as they are kept; the texts are those that the scripts
/// write.
RecordedTransition parse_history(std::string_view text);
std::string history_text(const RecordedTransition& row);
/// The same without its time: what is before and what is after that.
std::pair<std::string, std::string> history_around_time(const RecordedTransition& row);
LogLine parse_log(std::string_view text);
std::string log_text(const LogLine& line);

}  // namespace holdfast::redis
