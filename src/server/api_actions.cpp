#include <algorithm>

#include <fmt/format.h>

#include "documents/json.hpp"
#include "recovery/recovery_action.hpp"
#include "server/fields.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "server/task_filter.hpp"
#include "server/task_search.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_ids = 1'000;

/// Which tasks; said by exactly one of ids, filter and all, so that a filter that was left out does
/// not mean every task.
TaskFilter which(const Fields& fields) {
  const int said = fields.has("ids") + fields.has("filter") + fields.flag("all");
  if (said != 1) throw invalid("which tasks? Give one of ids, filter, and all: true");
  if (const auto filter = fields.object("filter")) {
    if (filter->empty()) throw invalid("the filter is empty; for every task say all: true");
    return filter_of(*filter);
  }
  TaskFilter filter;
  filter.ids = task_ids(fields.texts("ids"));
  if (fields.has("ids") && (filter.ids.empty() || filter.ids.size() > most_ids))
    throw invalid(
        fmt::format("ids has {} elements; 1 to {} are allowed", filter.ids.size(), most_ids));
  return filter;
}

Response changed(std::int64_t count) {
  return json_response(JsonObject{}.number("changed", count).str());
}

/// How many of the filter are in one of these states, as far as that is found out in a moment.
Response preview(const Inspector& inspector, TaskFilter filter, std::vector<TaskState> states) {
  if (!filter.states.empty())
    std::erase_if(states, [&](auto state) {
      return std::ranges::find(filter.states, state) == filter.states.end();
    });
  TaskCount found;
  filter.states = std::move(states);
  if (!filter.states.empty()) found = inspector.count_within(filter, longest_count);
  return json_response(
      JsonObject{}.number("changed", found.tasks).flag("complete", found.complete).str());
}

Response retry(Service& service, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"ids", "filter", "all", "dry_run"});
  auto inspector = service.inspector(request);
  const auto filter = which(fields);
  if (fields.flag("dry_run"))
    return preview(inspector, filter, {TaskState::failed, TaskState::held, TaskState::cancelled});
  return changed(inspector.retry(filter));
}

Response cancel(Service& service, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"ids", "filter", "all", "dry_run", "force"});
  auto inspector = service.inspector(request);
  const auto filter = which(fields);
  if (fields.flag("dry_run"))
    return preview(inspector, filter,
                   {TaskState::pending, TaskState::running, TaskState::blocked, TaskState::held,
                    TaskState::failed});
  return changed(inspector.cancel(filter, fields.flag("force")));
}

Response hold(Service& service, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"ids", "filter", "all", "dry_run", "cause"});
  auto inspector = service.inspector(request);
  const auto filter = which(fields);
  if (fields.flag("dry_run"))
    return preview(inspector, filter, {TaskState::pending, TaskState::blocked});
  return changed(inspector.hold(filter, fields.text("cause").value_or("")));
}

Response recover(Service& service, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"action", "dry_run"});
  std::optional<RecoveryAction> action;
  if (const auto text = fields.text("action")) {
    action = parse_recovery_action(*text);
    if (!action) throw invalid(fmt::format("action is '{}'; it is retry, fail or pending", *text));
  }
  auto inspector = service.inspector(request);
  return json_response(to_json(fields.flag("dry_run") ? inspector.plan_recovery(action)
                                                      : inspector.recover(action)));
}

}  // namespace

void add_action_routes(Routes& routes, Service& service) {
  auto add = [&](const char* path, Response (*handler)(Service&, const Request&)) {
    routes.add({.method = "POST",
                .pattern = path,
                .access = Access::operates,
                .handler =
                    [&service, handler](const Request& request) {
                      request.query.only({"store"});
                      return handler(service, request);
                    },
                .audited = true});
  };
  add("/v1/tasks/retry", retry);
  add("/v1/tasks/cancel", cancel);
  add("/v1/tasks/hold", hold);
  add("/v1/recovery", recover);
  add("/v1/queues/{queue}/pause", [](Service& all, const Request& request) {
    Fields::of_body(request.body).only({});
    all.inspector(request).pause(request.place("queue"));
    return no_content();
  });
  add("/v1/queues/{queue}/resume", [](Service& all, const Request& request) {
    Fields::of_body(request.body).only({});
    all.inspector(request).resume(request.place("queue"));
    return no_content();
  });
}

}  // namespace holdfast::server
