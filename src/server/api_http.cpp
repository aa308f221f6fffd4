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
#include "server/new_task.hpp"
#include "server/problem.hpp"
#include "server/secrets.hpp"
#include "server/service.hpp"

namespace holdfast::server {

namespace {

/// At the requests that ended, and as long again at all of them.
constexpr Millis longest_look{25};

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
  request.query.only({"store", "limit"});
  const auto limit = static_cast<int>(request.query.number("limit", 50, 1, 500));
  std::vector<std::string> documents;
  for (const auto& each :
       requests_in_flight(service.store(request).engine, limit, system_clock().wall()))
    documents.push_back(request_json(each));
  return json_response(JsonObject{}.json("requests", json_list(documents)).str());
}

/// What callers have instead of tasks of a reserved kind. A request that makes no sense is refused
/// now, and one that does is sealed here: callers have no keys.
Response enqueue(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto fields = Fields::of_body(request.body);
  fields.only({"request", "queue", "priority", "delay_ms", "at", "max_attempts", "unique_key",
               "limit_key", "tags", "id"});
  const auto described = fields.raw("request");
  if (!described) throw invalid("request is missing: what is to be sent?");
  http::ClientOptions options{.task = task_place(fields), .payloads = service.options().payloads};
  options.persistence.attempts = static_cast<int>(
      fields.number("max_attempts", 1, 1'000).value_or(options.persistence.attempts));
  // Threads of the server do not wait for blobs.
  options.payloads.blobs.reset();
  const auto id = options.task.id;
  http::Client client{service.store(request).engine, std::move(options)};
  const auto made = client.enqueue(http::request_from_json(parse_json(*described)), id);
  return json_response(JsonObject{}.text("id", made.text()).str(), 201);
}

Response stats(Service& service, const Request& request) {
  request.query.only({"store"});
  const auto since = cleared_at(service, service.store(request));
  auto document = http_stats_json(
      http_stats(service.store(request).engine, {.since = since, .longest = longest_look}));
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
              .access = Access::operates,
              .handler = [&](const Request& request) { return enqueue(service, request); },
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
