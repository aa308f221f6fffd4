#pragma once

#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "server/fields.hpp"
#include "server/query.hpp"
#include "server/task_search.hpp"

namespace holdfast::server {

/// Each throws `Problem` that says what is wrong.
TaskId task_id(const std::string& text);
std::vector<TaskId> task_ids(const std::vector<std::string>& texts);
TaskFilter filter_of(const Query& query);
std::vector<TaskState> task_states(const std::vector<std::string>& texts);
WallTime time_of(const std::string& text, std::string_view name);

/// Which tasks are searched for, or acted on: what stores find, and what is found by looking into
/// each task of that.
struct Selection {
  TaskFilter filter{};
  Contents contents{};
};
/// Of a search.
Selection selection_of(const Query& query);
/// Of an action. What is there and empty is refused rather than taken for any.
Selection selection_of(const Fields& fields);

/// The body of an action without the value of a hidden field that tasks were selected by.
std::string without_hidden_value(const std::string& body);

}  // namespace holdfast::server
