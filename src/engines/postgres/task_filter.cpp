#include "engines/postgres/task_filter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace holdfast::postgres {

Condition::Condition(const TaskFilter& filter) : sql{"true"} {
  // Written out one by one, so that the planner sees which of the partial indexes will do for each.
  std::vector<std::string> states;
  for (auto state : filter.states)
    states.push_back(fmt::format("t.state = {}", static_cast<int>(state)));
  if (!states.empty()) sql += fmt::format(" AND ({})", fmt::join(states, " OR "));
  if (!filter.queue.empty()) sql += " AND t.queue = " + name(to_value(filter.queue));
  if (!filter.kind.empty()) sql += " AND t.kind = " + name(to_value(filter.kind));
  if (!filter.tag.empty()) sql += " AND " + name(to_value(filter.tag)) + " = ANY(t.tags)";
  if (filter.priority) sql += " AND t.priority = " + name(to_value(*filter.priority));
  if (filter.created_since) sql += " AND t.created_at >= " + name(to_value(*filter.created_since));
  if (!filter.ids.empty()) sql += " AND t.id = ANY(" + name(to_value(filter.ids)) + ")";
}

std::string Condition::name(Value value) {
  values.push_back(std::move(value));
  return fmt::format("${}", values.size());
}

}  // namespace holdfast::postgres
