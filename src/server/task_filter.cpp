#include "server/task_filter.hpp"

#include <fmt/format.h>

#include "recovery/time_text.hpp"
#include "server/problem.hpp"
#include "tasks/json_text.hpp"

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

namespace {

Selection complete(TaskFilter filter, const std::string& id, Contents contents) {
  if (!id.empty()) filter.ids = {task_id(id)};
  if (contents.payload_field.empty() && !contents.payload_value.empty())
    throw invalid("payload_value needs payload_field: which field is it?");
  return {std::move(filter), std::move(contents)};
}

}  // namespace

Selection selection_of(const Query& query) {
  return complete(filter_of(query), query.text("id"),
                  {query.text("error"), query.text("payload_field"), query.text("payload_value")});
}

Selection selection_of(const Fields& fields) {
  fields.only({"id", "state", "queue", "kind", "tag", "priority", "since", "error", "payload_field",
               "payload_value"});
  auto text = [&](const char* name) {
    const auto found = fields.text(name);
    if (found && found->empty())
      throw invalid(fmt::format("filter.{} is empty; leave it out for any", name));
    return found.value_or("");
  };
  if (fields.empty()) throw invalid("the filter is empty; for every task say all: true");
  TaskFilter filter;
  filter.states = task_states(fields.texts("state"));
  if (fields.has("state") && filter.states.empty())
    throw invalid("filter.state is empty; leave it out for any");
  filter.queue = text("queue");
  filter.kind = text("kind");
  filter.tag = text("tag");
  if (const auto priority = fields.number("priority", highest_priority, lowest_priority))
    filter.priority = static_cast<int>(*priority);
  if (fields.has("since")) filter.created_since = time_of(text("since"), "since");
  return complete(std::move(filter), text("id"),
                  {text("error"), text("payload_field"), text("payload_value")});
}

std::string without_hidden_value(const std::string& body) {
  if (!json_fault(body).empty()) return body;
  const Fields fields{body};
  const auto raw = fields.raw("filter");
  if (!raw || !raw->starts_with('{')) return body;
  const Fields filter{*raw};
  const auto value = filter.raw("payload_value");
  const auto field = filter.raw("payload_field");
  if (!value || !field || !field->starts_with('"')) return body;
  if (!Contents{.payload_field = unquoted(*field)}.looks_at_secret()) return body;
  auto shown = body;
  return shown.replace(static_cast<std::size_t>(value->data() - body.data()), value->size(),
                       "\"[hidden]\"");
}

}  // namespace holdfast::server
