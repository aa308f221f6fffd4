#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "documents/json.hpp"
#include "recovery/recovery_action.hpp"
#include "server/fields.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "server/shown_report.hpp"
#include "server/task_filter.hpp"
#include "server/task_search.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_ids = 1'000;
constexpr int moved_at_once = 500;
constexpr int most_in_preview = 10'000;

/// Which tasks; said by exactly one of ids, filter and all, so that a filter that was left out does
/// not mean every task.
Selection which(const Fields& fields) {
  const int said = fields.has("ids") + fields.has("filter") + fields.flag("all");
  if (said != 1) throw invalid("which tasks? Give one of ids, filter, and all: true");
  if (fields.has("filter")) {
    if (const auto filter = fields.object("filter")) return selection_of(*filter);
    throw invalid("filter is null; for every task say all: true");
  }
  TaskFilter filter;
  filter.ids = task_ids(fields.texts("ids"));
  if (fields.has("ids") && (filter.ids.empty() || filter.ids.size() > most_ids))
    throw invalid(
        fmt::format("ids has {} elements; 1 to {} are allowed", filter.ids.size(), most_ids));
  return {filter, {}};
}

Response changed(std::int64_t count) {
  return json_response(JsonObject{}.number("changed", count).str());
}

/// An action on many tasks.
struct Action {
  std::vector<TaskState> states;  ///< in which it does something
  std::function<std::int64_t(const TaskFilter&)> act;
};

/// What is not in one of the states that the caller asked for is left alone.
TaskFilter in_states(TaskFilter filter, std::vector<TaskState> states) {
  if (!filter.states.empty())
    std::erase_if(states, [&](auto state) {
      return std::ranges::find(filter.states, state) == filter.states.end();
    });
  filter.states = std::move(states);
  return filter;
}

/// How many it would be, as far as that is found out in a moment.
Response preview(const Inspector& inspector, const TaskFilter& filter, const Contents& contents) {
  TaskCount found;
  if (contents.any()) {
    const auto page = find_tasks(inspector, filter, contents, {}, most_in_preview, true);
    found = {std::ssize(page.tasks), !page.more};
  } else {
    found = inspector.count_within(filter, longest_count);
  }
  return json_response(
      JsonObject{}.number("changed", found.tasks).flag("complete", found.complete).str());
}

/// Acts on what is found in the time that a search has, and says where to go on. What was acted on
/// is left out by its state from then on, and where it goes on does not depend on that.
Response act_on_found(const Inspector& inspector, TaskFilter filter, const Contents& contents,
                      const Cursor& from, const Action& action) {
  auto page = find_tasks(inspector, filter, contents, from, moved_at_once, true);
  std::int64_t changed = 0;
  if (!page.tasks.empty()) {
    filter.ids.clear();
    for (const auto& task : page.tasks) filter.ids.push_back(task.id);
    changed = action.act(filter);
  }
  page.next.offset = std::max(0, page.next.offset - static_cast<int>(changed));
  return json_response(JsonObject{}
                           .number("changed", changed)
                           .flag("complete", !page.more)
                           .number("looked_at", page.looked_at)
                           .json("next_cursor", page.more ? json_string(page.next.text()) : "")
                           .str());
}

Response carry_out(const Inspector& inspector, const Fields& fields, const Action& action) {
  const auto [filter, contents] = which(fields);
  const auto cursor = fields.text("cursor");
  if (cursor && !contents.any())
    throw invalid("only an action by error or payload_field has a cursor; leave it out");
  const auto narrow = in_states(filter, action.states);
  if (narrow.states.empty()) return json_response(R"({"changed":0,"complete":true})");
  if (fields.flag("dry_run")) return preview(inspector, narrow, contents);
  if (!contents.any()) return changed(action.act(filter));
  return act_on_found(inspector, narrow, contents, Cursor::parse(cursor.value_or("")), action);
}

Response retry(Service& service, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"ids", "filter", "all", "dry_run", "cursor"});
  auto inspector = service.inspector(request);
  return carry_out(inspector, fields,
                   {{TaskState::failed, TaskState::held, TaskState::cancelled},
                    [&](const TaskFilter& filter) { return inspector.retry(filter); }});
}

Response cancel(Service& service, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"ids", "filter", "all", "dry_run", "cursor", "force"});
  auto inspector = service.inspector(request);
  const bool force = fields.flag("force");
  return carry_out(inspector, fields,
                   {{TaskState::pending, TaskState::running, TaskState::blocked, TaskState::held,
                     TaskState::failed},
                    [&](const TaskFilter& filter) { return inspector.cancel(filter, force); }});
}

Response hold(Service& service, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"ids", "filter", "all", "dry_run", "cursor", "cause"});
  auto inspector = service.inspector(request);
  const auto cause = fields.text("cause").value_or("");
  return carry_out(inspector, fields,
                   {{TaskState::pending, TaskState::blocked},
                    [&](const TaskFilter& filter) { return inspector.hold(filter, cause); }});
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
  return json_response(shown_report(fields.flag("dry_run") ? inspector.plan_recovery(action)
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
