#pragma once

#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "server/fields.hpp"
#include "server/query.hpp"

namespace holdfast::server {

/// Each throws `Problem` that says what is wrong.
TaskId task_id(const std::string& text);
std::vector<TaskId> task_ids(const std::vector<std::string>& texts);
TaskFilter filter_of(const Query& query);
/// `error` is the caller's to look for.
TaskFilter filter_of(const Fields& fields);
std::vector<TaskState> task_states(const std::vector<std::string>& texts);
WallTime time_of(const std::string& text, std::string_view name);

}  // namespace holdfast::server
