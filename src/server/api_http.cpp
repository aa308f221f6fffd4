#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <holdfast/http/client.hpp>

#include "documents/http_requests.hpp"
#include "documents/http_stats.hpp"
#include "documents/json.hpp"
#include "recovery/clock.hpp"
#include "recovery/time_text.hpp"
#include "server/fields.hpp"
#include "server/idempotency.hpp"
#include "server/limited_enqueue.hpp"
#include "server/limiting_token.hpp"
#include "server/new_task.hpp"
#include "server/page.hpp"
#include "server/problem.hpp"
#include "server/secrets.hpp"
#include "server/service.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::server {

namespace {

/// At the requests that ended, and as long again at all of them.
constexpr Millis longest_look{25};
constexpr int most_in_flight = 100'000;
/// Of hosts and of processes, an answer tells so many.
constexpr std::size_t most_in_stats = 1'000;

/// Where it is noted since when a store's statistics count. They are made from the requests
/// themselves, of which clearing takes nothing away.
std::string note_of(Service& service, const WatchedStore& store) {
  return fmt::format("{}/http-since-{}", service.options().folder,
                     fingerprint(store.engine.name()).substr(0, 16));
}

std::optional<WallTime> cleared_at(Service& service, const WatchedStore& store) {
  std::ifstream file{note_of(service, store)};
  std::string text;
  file >> text;
  return parse_iso8601(text);
}

Response requests(Service& service, const Request& request) {
  request.query.only({"store", "limit", "cursor"});
  const auto found =
      requests_in_flight(service.store(request).engine, most_in_flight, system_clock().wall());
  const auto page = listed(request.query, found, 50, 500, request_json);
  return json_response(JsonObject{}
                           .json("requests", page.entries)
                           .json("next_cursor", cursor_json(page.next))
                           .str());
}

/// A callback is a task that the request enqueues, so the token must be for that, too.
void authorize(const ProgramToken& token, const std::vector<NewTask>& tasks,
               const http::Request& wanted) {
  server::authorize(token, tasks);
  if (wanted.callback.empty()) return;
  TaskOptions place;
  if (!wanted.callback_queue.empty()) place.queue = wanted.callback_queue;
  server::authorize(token, std::vector<NewTask>{{wanted.callback, {}, place}});
}

/// What callers have instead of tasks of a reserved kind. A request that makes no sense is refused
/// now, and one that does is sealed here: callers have no keys.
Response enqueue_request(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  fields.only({"request", "queue", "priority", "delay_ms", "at", "max_attempts", "unique_key",
               "limit_key", "tags", "id"});
  const auto described = fields.raw("request");
  if (!described) throw invalid("request is missing: what is to be sent?");
  const auto wanted = http::request_from_json(parse_json(*described));
  const auto* token = limiting_token(request.caller);
  // As the caller describes it: sealed, it would be another one each time.
  std::vector<NewTask> tasks{{http::request_kind, std::string{*described}, task_place(fields)}};
  tasks.front().options.max_attempts = static_cast<int>(
      fields.number("max_attempts", 1, 1'000).value_or(http::Persistence{}.attempts));
  if (token) authorize(*token, tasks, wanted);
  if (request.caller.token) expect_no_token_tags(tasks);
  const auto& engine = service.store(request).engine;
  if (const std::string key{request.header("idempotency-key")}; !key.empty())
    name_by_key(tasks, Inspector{engine}, key, token);
  if (request.caller.token) add_token_tag(*request.caller.token, tasks);
  http::ClientOptions options{.task = std::move(tasks.front().options),
                              .payloads = service.options().payloads};
  options.persistence.attempts = options.task.max_attempts;
  // Threads of the server do not wait for blobs.
  options.payloads.blobs.reset();
  const auto id = options.task.id;
  tasks.front() = http::Client{engine, std::move(options)}.task_for(wanted, id);
  const auto ids =
      token ? enqueue_limited(*token, std::move(tasks), engine, service.quotas(), enqueue_own)
            : enqueue_own(engine, std::move(tasks));
  return json_response(JsonObject{}.text("id", ids.front().text()).str(), 201);
}

Response stats(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto since = cleared_at(service, service.store(request));
  auto document = http_stats_json(
      http_stats(service.store(request).engine, {.since = since, .longest = longest_look}),
      most_in_stats);
  document.pop_back();
  return json_response(document + ",\"since\":" +
                       (since ? json_string(iso8601(*since)) : std::string{"null"}) + "}");
}

Response clear(Service& service, const Request& request) {
  request.query.only({"store"});
  Fields::of_body(request.body).only({});
  write_private_file(note_of(service, service.store(request)), iso8601(system_clock().wall()));
  return no_content();
}

}  // namespace

void add_http_routes(Routes& routes, Service& service) {
  routes.add({"GET", "/v1/http/requests", Access::viewer,
              [&](const Request& request) { return requests(service, request); }});
  routes.add({.method = "POST",
              .pattern = "/v1/http/requests",
              .access = Access::enqueue,
              .handler = [&](const Request& request) { return enqueue_request(service, request); },
              .largest_body = large_body});
  routes.add({"GET", "/v1/http/stats", Access::viewer,
              [&](const Request& request) { return stats(service, request); }});
  routes.add({.method = "POST",
              .pattern = "/v1/http/stats/clear",
              .access = Access::operates,
              .handler = [&](const Request& request) { return clear(service, request); },
              .audited = true});
}

}  // namespace holdfast::server
