#include <fmt/format.h>

#include <holdfast/limit.hpp>
#include <holdfast/schedule.hpp>

#include "documents/json.hpp"
#include "documents/limit_json.hpp"
#include "documents/redact.hpp"
#include "documents/schedule_json.hpp"
#include "recovery/time_text.hpp"
#include "server/fields.hpp"
#include "server/new_task.hpp"
#include "server/page.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"

namespace holdfast::server {

namespace {

constexpr std::int64_t largest = 1'000'000'000;
/// Of a limit that is for each tenant, an answer tells so many.
constexpr std::size_t most_uses = 1'000;

Response schedules(Service& service, const Request& request) {
  request.query.only({"store", "limit", "cursor"});
  const auto page = listed(request.query, Schedules{service.store(request).engine}.list(), 500, 500,
                           [](Schedule schedule) {
                             schedule.task.payload = redact_json(schedule.task.payload).text;
                             return schedule_json(schedule);
                           });
  return json_response(JsonObject{}
                           .json("schedules", page.entries)
                           .json("next_cursor", cursor_json(page.next))
                           .str());
}

Response add_schedule(Service& service, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"name", "cron", "zone", "missed", "task"});
  Schedule schedule;
  schedule.name = fields.required_text("name");
  schedule.cron = fields.required_text("cron");
  schedule.zone = fields.text("zone").value_or(schedule.zone);
  const auto missed = fields.text("missed").value_or("once");
  if (const auto known = parse_missed_runs(missed))
    schedule.missed = *known;
  else
    throw invalid(fmt::format("missed is '{}'; it is skip, once or all", missed));
  const auto task = fields.object("task");
  if (!task) throw invalid("task is missing: what is to be enqueued?");
  schedule.task = new_task(*task);
  const auto name = schedule.name;
  Schedules schedules{service.store(request).engine};
  const auto added = schedules.add(std::move(schedule));
  std::string next;
  for (const auto& each : schedules.list())
    if (each.name == name && each.next) next = json_string(iso8601(*each.next));
  return json_response(JsonObject{}
                           .text("result", added == Schedules::Added::created   ? "added"
                                           : added == Schedules::Added::changed ? "changed"
                                                                                : "unchanged")
                           .json("next", next)
                           .str());
}

Response change_schedule(Service& service, const Request& request,
                         bool (Schedules::*change)(const std::string&)) {
  Fields::of_body(request.body).only({});
  Schedules schedules{service.store(request).engine};
  if (!(schedules.*change)(request.place("name")))
    throw not_found(fmt::format("there is no schedule '{}'", request.place("name")));
  return no_content();
}

Response limits(Service& service, const Request& request) {
  request.query.only({"store", "limit", "cursor"});
  const auto page =
      listed(request.query, Limits{service.store(request).engine}.list(), 1'000, 1'000,
             [](const LimitStatus& status) { return limit_json(status, most_uses); });
  return json_response(
      JsonObject{}.json("limits", page.entries).json("next_cursor", cursor_json(page.next)).str());
}

LimitScope scope_of(const Fields& fields) {
  const auto text = fields.required_text("scope");
  if (const auto scope = parse_limit_scope(text)) return *scope;
  throw invalid(fmt::format("scope is '{}'; it is queue, kind or key", text));
}

Response set_limit(Service& service, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"scope", "name", "max_running", "rate"});
  Limit limit;
  limit.scope = scope_of(fields);
  limit.name = fields.required_text("name");
  if (const auto most = fields.number("max_running", 0, largest))
    limit.max_running = static_cast<int>(*most);
  if (const auto rate = fields.object("rate")) {
    rate->only({"tasks", "period_ms", "burst"});
    limit.rate = Rate{.tasks = static_cast<int>(rate->required_number("tasks", 1, largest)),
                      .period = Millis{rate->required_number("period_ms", 1, largest)},
                      .burst = static_cast<int>(rate->number("burst", 0, largest).value_or(0))};
  }
  Limits{service.store(request).engine}.set(limit);
  return no_content();
}

Response remove_limit(Service& service, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"scope", "name"});
  if (!Limits{service.store(request).engine}.remove(scope_of(fields), fields.required_text("name")))
    throw not_found("there is no such limit");
  return no_content();
}

}  // namespace

void add_plan_routes(Routes& routes, Service& service) {
  routes.add({"GET", "/v1/schedules", Access::viewer,
              [&](const Request& request) { return schedules(service, request); }});
  routes.add({"GET", "/v1/limits", Access::viewer,
              [&](const Request& request) { return limits(service, request); }});
  auto add = [&](const char* path, std::function<Response(const Request&)> handler) {
    routes.add({.method = "POST",
                .pattern = path,
                .access = Access::operates,
                .handler =
                    [handler = std::move(handler)](const Request& request) {
                      request.query.only({"store"});
                      return handler(request);
                    },
                .audited = true});
  };
  add("/v1/schedules", [&](const Request& request) { return add_schedule(service, request); });
  add("/v1/schedules/{name}/pause",
      [&](const Request& request) { return change_schedule(service, request, &Schedules::pause); });
  add("/v1/schedules/{name}/resume", [&](const Request& request) {
    return change_schedule(service, request, &Schedules::resume);
  });
  add("/v1/schedules/{name}/remove", [&](const Request& request) {
    return change_schedule(service, request, &Schedules::remove);
  });
  add("/v1/limits", [&](const Request& request) { return set_limit(service, request); });
  add("/v1/limits/remove", [&](const Request& request) { return remove_limit(service, request); });
}

}  // namespace holdfast::server
