#include "server/service.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/error.hpp>

#include "documents/redact.hpp"
#include "recovery/clock.hpp"
#include "recovery/time_text.hpp"
#include "server/task_filter.hpp"

namespace holdfast::server {

namespace {

/// So long somebody waits for a store that answers nobody.
constexpr Millis while_silent{5'000};
/// And for one that answers others. What people ask for in the large may take its time.
constexpr Millis longest_wait{60'000};
constexpr Millis longest_action{15 * 60'000};

/// What an action was asked to do. Most bodies have filters and names; that of a schedule has a
/// payload.
std::string details(const Request& request) {
  return redact_json(without_hidden_value(request.body)).text;
}

}  // namespace

Service::Service(ServiceOptions options, std::vector<StoreToServe> stores)
    : options_{std::move(options)},
      gate_{options_.gate},
      audit_{options_.folder + "/audit.jsonl"},
      logins_{audit_, [this](const auto& why) { options_.warn("audit_unwritable", why); }},
      enlisters_{audit_} {
  for (auto& each : stores)
    stores_.push_back(std::make_shared<StorePlace>(std::to_string(stores_.size() + 1),
                                                   std::move(each), options_.traces));
  for (const auto& each : stores_) each->wait_for_first_try();
  add_session_routes(routes_, *this);
  add_status_routes(routes_, *this);
  add_search_routes(routes_, *this);
  add_enqueue_routes(routes_, *this);
  add_action_routes(routes_, *this);
  add_plan_routes(routes_, *this);
  add_http_routes(routes_, *this);
  add_batch_routes(routes_, *this);
  add_output_routes(routes_, *this);
  add_transaction_routes(routes_, *this);
  add_message_routes(routes_, *this);
  add_remote_routes(routes_, *this);
  add_token_routes(routes_, *this);
  add_page_routes(routes_);
}

const Route& Service::admit(Request& request, std::string_view raw_path) {
  auto match = routes_.find(request.method, raw_path);
  // What is not there is told to those only who may look: others learn nothing about the table.
  gate_.admit(request, match.route ? match.route->access : Access::viewer, match.route != nullptr);
  if (match.route) {
    request.places = std::move(match.places);
    return *match.route;
  }
  if (!match.allowed.empty()) {
    const auto allowed = fmt::format("{}", fmt::join(match.allowed, ", "));
    throw Problem{405, "method_not_allowed",
                  fmt::format("{} can be asked with {} only", request.path, allowed)}
        .with("Allow", allowed);
  }
  throw Problem{404, "not_found", fmt::format("there is nothing at {}", request.path)};
}

Response Service::answer(const Route& route, const Request& request) {
  try {
    if (!gate_.still_admits(request))
      throw Problem{401, "unauthenticated",
                    "the token or the session ended while this request waited"};
    if (route.brake) route.brake(request);
    auto response = route.audited ? audited(route, request) : route.handler(request);
    // Whatever a route shows, and whoever wrote it: no credential is in it by mistake. What workers
    // are given to work on is claimed by POST, and is as it was enqueued.
    if (route.method == "GET" && !response.revealed &&
        response.content_type == "application/json" && !response.body.empty())
      if (auto shown = redact_document(response.body); shown.hidden)
        response.body = std::move(shown.text);
    return response;
  } catch (const std::exception& error) {
    return answer_for(problem_for(error));
  }
}

std::optional<std::size_t> Service::store_asked(const Route& route, const Request& request) const {
  return route.asks == Asks::store ? number_of_store(request) : std::nullopt;
}

std::optional<std::size_t> Service::number_of_store(const Request& request) const {
  const auto name = request.query.find("store");
  if (!name) return 0;
  for (std::size_t i = 0; i < stores_.size(); ++i)
    if (stores_[i]->id() == *name) return i;
  return {};
}

std::optional<Problem> Service::overdue(const Route& route, const Request& request,
                                        Millis waited) const {
  const auto asked = store_asked(route, request);
  if (!asked || waited < while_silent) return {};
  const auto found = stores_[*asked]->found();
  if (!found.silent && waited < (route.audited ? longest_action : longest_wait)) return {};
  const auto why = found.silent ? found.trouble
                                : fmt::format("{} has not answered for {}", stores_[*asked]->name(),
                                              duration_text(waited));
  return Problem{503, "store_away", why + "; whether it still does what was asked is not known"};
}

void Service::note_tokens() {
  if (!options_.gate.tokens) return;
  // What was done while no server ran is later than everything in the log.
  const auto last = audit_.list(1, INT64_MAX);
  std::vector<TokenChange> changes;
  try {
    changes = options_.gate.tokens->changes(last.empty() ? WallTime{} : last.front().at);
  } catch (const ConfigError&) {
    return;  // no token counts now; what was done to them is told when they can be read again
  }
  for (const auto& change : changes) {
    const auto n = audit_.asked(
        {.at = change.at, .who = change.who, .what = change.what, .details = change.details});
    audit_.ended(n, "found in the file");
  }
}

Response Service::audited(const Route& route, const Request& request) {
  const bool about_store = route.asks == Asks::store;
  note_tokens();
  const auto n = audit_.asked({.at = system_clock().wall(),
                               .who = actor(request),
                               .from = request.peer,
                               .what = request.method + " " + request.path,
                               .store = about_store ? store(request).engine.name() : "",
                               .details = details(request)});
  Response response;
  try {
    response = route.handler(request);
  } catch (const std::exception& error) {
    response = answer_for(problem_for(error));
  }
  if (about_store) store(request).watcher.acted();
  if (response.for_audit.empty() && response.status == 200 && response.body.size() < 200)
    response.for_audit = response.body;
  audit_.ended(n, fmt::format("{}{}{}", response.status, response.for_audit.empty() ? "" : " ",
                              response.for_audit));
  return response;
}

StorePlace& Service::place(const Request& request) {
  if (const auto number = number_of_store(request)) return *stores_[*number];
  throw not_found(
      fmt::format("there is no store '{}'; /v1/stores lists them", request.query.text("store")));
}

WatchedStore& Service::store(const Request& request) {
  auto& where = place(request);
  if (auto* opened = where.store()) return *opened;
  throw Problem{503, "store_away", where.trouble() + "; it is tried again until it is there"};
}

Inspector Service::inspector(const Request& request) {
  return Inspector{store(request).engine, actor(request)};
}

std::string actor(const Request& request) {
  if (request.caller.name.empty()) return "nobody";
  return (request.caller.token ? "token/" : "operator/") + request.caller.name;
}

}  // namespace holdfast::server
