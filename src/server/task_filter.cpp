#include "server/task_filter.hpp"

#include <fmt/format.h>

#include "recovery/time_text.hpp"
#include "server/problem.hpp"

namespace holdfast::server {

TaskId task_id(const std::string& text) {
  if (const auto id = TaskId::parse(text)) return *id;
  throw invalid(fmt::format("'{}' is not the id of a task; ids have 26 letters and digits", text));
}

std::vector<TaskId> task_ids(const std::vector<std::string>& texts) {
  std::vector<TaskId> ids;
  for (const auto& text : texts) ids.push_back(task_id(text));
  return ids;
}

std::vector<TaskState> task_states(const std::vector<std::string>& texts) {
  std::vector<TaskState> states;
  for (const auto& text : texts) {
    const auto state = parse_task_state(text);
    if (!state)
      throw invalid(
          fmt::format("'{}' is no state of tasks: pending, running, completed, failed, "
                      "cancelled, blocked, held",
                      text));
    states.push_back(*state);
  }
  return states;
}

WallTime time_of(const std::string& text, std::string_view name) {
  if (const auto time = parse_iso8601(text)) return *time;
  throw invalid(
      fmt::format("{} is '{}'; write a time with its zone: 2026-03-01T12:00:00Z", name, text));
}

TaskFilter filter_of(const Query& query) {
  TaskFilter filter;
  filter.states = task_states(query.all("state"));
  filter.queue = query.text("queue");
  filter.kind = query.text("kind");
  filter.tag = query.text("tag");
  if (query.find("priority"))
    filter.priority =
        static_cast<int>(query.number("priority", 0, highest_priority, lowest_priority));
  if (const auto since = query.find("since")) filter.created_since = time_of(*since, "since");
  return filter;
}

TaskFilter filter_of(const Fields& fields) {
  fields.only({"state", "queue", "kind", "tag", "priority", "since", "error"});
  TaskFilter filter;
  filter.states = task_states(fields.texts("state"));
  filter.queue = fields.text("queue").value_or("");
  filter.kind = fields.text("kind").value_or("");
  filter.tag = fields.text("tag").value_or("");
  if (const auto priority = fields.number("priority", highest_priority, lowest_priority))
    filter.priority = static_cast<int>(*priority);
  if (const auto since = fields.text("since")) filter.created_since = time_of(*since, "since");
  return filter;
}

}  // namespace holdfast::server
