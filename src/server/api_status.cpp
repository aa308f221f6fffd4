#include <algorithm>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "documents/json.hpp"
#include "documents/queue_json.hpp"
#include "documents/recovery_status.hpp"
#include "documents/worker_json.hpp"
#include "recovery/clock.hpp"
#include "server/fields.hpp"
#include "server/health.hpp"
#include "server/page.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "server/shown_report.hpp"
#include "settings/keys.hpp"
#include "tasks/store_metrics.hpp"

namespace holdfast::server {

namespace {

constexpr std::int64_t most_tasks_in_reports = 10'000;
constexpr int most_reports = 100;
constexpr int most_reports_kept = 1'000;  // stores shed the oldest before that

Response text_response(std::string text, int status = 200) {
  Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(text);
  return response;
}

/// What can be done with a store now, and why not everything. Asks the store nothing.
std::pair<std::string, std::string> level_of(const StorePlace& place) {
  const auto* opened = place.store();
  if (const auto why = place.trouble(); !why.empty() || !opened) return {"away", why};
  const Inspector inspector{opened->engine};
  const auto level = inspector.run_level();
  if (level != RunLevel::normal) return {std::string{to_string(level)}, inspector.why_read_only()};
  // It may have become full or read-only since it was opened.
  const auto refusal = opened->history->refusal();
  return {std::string{to_string(refusal.empty() ? level : RunLevel::read_only)}, refusal};
}

Response stores(Service& service, const Request& request) {
  request.query.only({});
  std::vector<std::string> documents;
  for (const auto& store : service.stores()) {
    const auto [level, reason] = level_of(*store);
    const auto* opened = store->store();
    documents.push_back(
        JsonObject{}
            .text("id", store->id())
            .text("name", store->name())
            .text("durability", opened ? Inspector{opened->engine}.durability() : "")
            .text("durability_warning",
                  opened ? Inspector{opened->engine}.durability_warning() : "")
            .text("run_level", level)
            .text("reason", reason)
            .str());
  }
  return json_response(JsonObject{}.json("stores", json_list(documents)).str());
}

/// Reasons name hosts, users and databases, so they are for those who may look at the rest.
Response ready(Service& service, const Request& request) {
  const bool is_known = request.caller.role >= Role::viewer;
  std::string away;
  for (const auto& store : service.stores())
    if (const auto why = store->trouble(); !why.empty())
      away += fmt::format("store {} is away: {}\n", store->id(),
                          is_known ? why : "with the token, /v1/stores says why");
  return away.empty() ? text_response("ready\n") : text_response(away, 503);
}

Response metrics(Service& service, const Request& request) {
  request.query.only({"store"});
  auto& store = service.store(request);
  auto response = text_response(store_metrics(store.engine, Inspector{store.engine}.queues()) +
                                store.counters->text({{"store", store.engine.name()}}));
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

Response workers(Service& service, const Request& request) {
  request.query.only({"store", "state", "limit", "cursor"});
  auto found = service.inspector(request).workers();
  const auto state = request.query.find("state");
  if (state && *state != "running" && *state != "stopped" && *state != "dead")
    throw invalid(fmt::format("'{}' is no state of workers: running, stopped, dead", *state));
  if (state)
    std::erase_if(found, [&](const auto& worker) { return to_string(worker.state) != *state; });
  running_first(found);
  const auto now = system_clock().wall();
  const auto& enlisters = service.enlisters();
  const auto shown = [&](const WorkerStatus& worker) {
    auto document = worker_json(worker, now);
    document.pop_back();
    const auto by = enlisters.of(worker.id);
    return document + ",\"enlisted_by\":" + (by.empty() ? "null" : json_string(by)) + "}";
  };
  const auto page = listed(request.query, found, 5'000, 5'000, shown);
  return json_response(
      JsonObject{}.json("workers", page.entries).json("next_cursor", cursor_json(page.next)).str());
}

Response queues(Service& service, const Request& request) {
  request.query.only({"store", "limit", "cursor"});
  const auto& engine = service.store(request).engine;
  const auto page = listed(request.query, Inspector{engine}.queues(), 5'000, 5'000, queue_json);
  return json_response(queues_json(engine, page.entries, cursor_json(page.next)));
}

Response reports(Service& service, const Request& request) {
  request.query.only({"store", "limit", "tasks", "cursor"});
  const auto before =
      std::min<std::int64_t>(offset_of(request.query.text("cursor")), most_reports_kept);
  const auto wanted = before + request.query.number("limit", 20, 1, most_reports) + 1;
  // All that are read name so many tasks together; their counts are of all.
  const auto tasks =
      std::min(request.query.number("tasks", 100, 0, 1'000), most_tasks_in_reports / wanted);
  const auto found =
      service.inspector(request).reports(static_cast<int>(wanted), static_cast<int>(tasks));
  const auto page = listed(request.query, found, 20, most_reports,
                           [](const RecoveryReport& report) { return shown_report(report); });
  return json_response(
      JsonObject{}.json("reports", page.entries).json("next_cursor", cursor_json(page.next)).str());
}

Response settings(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto& effective = service.store(request).engine.settings();
  std::vector<std::string> documents;
  for (const auto& key : setting_keys())
    documents.push_back(JsonObject{}
                            .text("key", key.path())
                            .text("value", key.text(effective))
                            .text("default", key.text(Settings{}))
                            .text("allowed", key.allowed())
                            .str());
  JsonObject server;
  for (const auto& [name, value] : service.options().shown) server.text(name, value);
  return json_response(
      JsonObject{}.json("settings", json_list(documents)).json("server", server.str()).str());
}

Response show_metrics_history(Service& service, const Request& request) {
  request.query.only({"store", "seconds", "cursor"});
  const auto seconds = request.query.number("seconds", 3'600, 1, 31'536'000);
  // A time, because the first points fall off while a caller follows the pages.
  const WallTime after{Millis{offset_of(request.query.text("cursor"))}};
  const auto now = system_clock().wall();
  const auto& kept = *service.store(request).history;
  const auto read = kept.since(now - std::chrono::seconds{seconds}, now);
  Page page{read.points.size() + 1};
  std::optional<std::string> next;
  WallTime last{};
  for (const auto& point : read.points) {
    if (point.at <= after) continue;
    if (!page.add(point_json(point))) {
      next = std::to_string(last.time_since_epoch().count());
      break;
    }
    last = point.at;
  }
  return json_response(JsonObject{}
                           .text("kept_in", kept.kept_in())
                           .number("resolution_s", read.resolution_s)
                           .json("points", page.list())
                           .json("next_cursor", cursor_json(next))
                           .str());
}

Response kinds(Service& service, const Request& request) {
  request.query.only({"store"});
  // As many as `Figures::most_kinds` at the most.
  std::vector<std::string> documents;
  for (const auto& each : service.store(request).watcher.last_hour())
    documents.push_back(JsonObject{}
                            .text("kind", each.kind)
                            .number("started", each.tally.started)
                            .number("completed", each.tally.completed)
                            .number("failed", each.tally.failed)
                            .number("retried", each.tally.retried)
                            .str());
  return json_response(JsonObject{}.json("kinds", json_list(documents)).str());
}

Response events(Service& service, const Request& request) {
  request.query.only({"store", "last_event_id"});
  auto& store = service.store(request);
  store.watcher.refresh();
  std::string seen{request.header("last-event-id")};
  if (seen.empty()) seen = request.query.text("last_event_id");
  Response response;
  response.content_type = "text/event-stream";
  response.events = service.place(request).hub()->subscribe(seen);
  return response;
}

Response audit(Service& service, const Request& request) {
  request.query.only({"limit", "before"});
  const auto limit = request.query.number("limit", 100, 1, 1'000);
  const auto before = request.query.number("before", INT64_MAX, 0, INT64_MAX);
  service.note_tokens();
  Page page{static_cast<std::size_t>(limit)};
  std::string next;
  const auto entries = service.audit().list(static_cast<std::size_t>(limit), before);
  for (const auto& entry : entries) {
    if (!page.add(audit_json(entry))) break;
    next = std::to_string(entry.n);
  }
  if (page.size() == entries.size() && std::ssize(entries) < limit) next.clear();
  return json_response(JsonObject{}
                           .json("findings", json_array(service.audit().findings()))
                           .json("entries", page.list())
                           .json("next_before", next)
                           .str());
}

}  // namespace

void add_status_routes(Routes& routes, Service& service) {
  auto add = [&](const char* path, Access access, Response (*handler)(Service&, const Request&),
                 Asks asks = Asks::store) {
    routes.add({.method = "GET",
                .pattern = path,
                .access = access,
                .handler = [&service,
                            handler](const Request& request) { return handler(service, request); },
                .asks = asks});
  };
  auto alive = [](Service&, const Request&) { return text_response("alive\n"); };
  add("/healthz", Access::everybody, alive, Asks::nobody);
  add("/readyz", Access::everybody, ready, Asks::nobody);
  add("/metrics", Access::metrics, metrics);
  add("/v1/stores", Access::viewer, stores, Asks::server);
  add("/v1/health", Access::viewer, [](Service& all, const Request& request) {
    request.query.only({"store"});
    return json_response(health_json(all.place(request), all));
  });
  add("/v1/queues", Access::viewer, queues);
  add("/v1/workers", Access::viewer, workers);
  add("/v1/recovery", Access::viewer, [](Service& all, const Request& request) {
    request.query.only({"store"});
    return json_response(recovery_status_json(recovery_status(all.store(request).engine)));
  });
  add("/v1/recovery/reports", Access::viewer, reports);
  add("/v1/settings", Access::viewer, settings);
  add("/v1/metrics/history", Access::viewer, show_metrics_history);
  add("/v1/metrics/kinds", Access::viewer, kinds);
  add("/v1/events", Access::viewer, events);
  add("/v1/audit", Access::admin, audit, Asks::server);
}

}  // namespace holdfast::server
