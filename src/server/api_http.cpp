#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "documents/http_requests.hpp"
#include "documents/http_stats.hpp"
#include "documents/json.hpp"
#include "recovery/clock.hpp"
#include "recovery/time_text.hpp"
#include "server/fields.hpp"
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
  routes.add({"GET", "/v1/http/stats", Access::viewer,
              [&](const Request& request) { return stats(service, request); }});
  routes.add({.method = "POST",
              .pattern = "/v1/http/stats/clear",
              .access = Access::operates,
              .handler = [&](const Request& request) { return clear(service, request); },
              .audited = true});
}

}  // namespace holdfast::server
