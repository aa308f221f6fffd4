#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "documents/json.hpp"
#include "recovery/clock.hpp"
#include "recovery/time_text.hpp"
#include "server/fields.hpp"
#include "server/page.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_faults = 100;

Tokens& tokens_of(Service& service) {
  if (const auto& tokens = service.options().gate.tokens) return *tokens;
  throw not_found("this server has no file of tokens");
}

Response list_tokens(Service& service, const Request& request) {
  request.query.only({"limit", "cursor"});
  auto& tokens = tokens_of(service);
  auto known = tokens.list();
  const auto now = system_clock().wall();
  const auto page = listed(request.query, known.tokens, 1'000, 1'000, [&](const auto& token) {
    return token_json(token, now, tokens.last_used(token));
  });
  if (known.faults.size() > most_faults) {
    known.faults.resize(most_faults);
    known.faults.push_back("there are more such lines; 'holdfast token list' shows all of them");
  }
  return json_response(JsonObject{}
                           .json("tokens", page.entries)
                           .json("next_cursor", cursor_json(page.next))
                           .json("faults", json_array(known.faults))
                           .str());
}

Response add(Service& service, const Request& request) {
  request.query.only({});
  const auto fields = Fields::of_body(request.body);
  fields.only(
      {"name", "scopes", "queues", "kinds", "quota_per_minute", "quota_waiting", "expires"});
  ProgramToken token{.name = fields.required_text("name"),
                     .queues = fields.texts("queues"),
                     .kinds = fields.texts("kinds"),
                     .quota_per_minute = quota_of(fields, "quota_per_minute"),
                     .quota_waiting = quota_of(fields, "quota_waiting"),
                     .created = system_clock().wall(),
                     .created_by = actor(request)};
  for (const auto& name : fields.texts("scopes")) {
    const auto scope = parse_scope(name);
    if (!scope)
      throw invalid(fmt::format(
          "unknown scope '{}'; expected metrics, enqueue, work, viewer, operator or admin", name));
    token.scopes.insert(*scope);
  }
  if (const auto text = fields.text("expires")) {
    token.expires = parse_iso8601(*text);
    if (!token.expires)
      throw invalid(fmt::format("expires is '{}'; write a time such as 2026-03-01T12:00:00Z",
                                text->substr(0, 40)));
  }
  const auto made = tokens_of(service).add(std::move(token));
  auto response = json_response(JsonObject{}
                                    .json("token", token_json(made.token, made.token.created))
                                    .text("secret", made.secret)
                                    .str(),
                                201);
  response.for_audit = "token " + made.token.name;
  return response;
}

Response revoke(Service& service, const Request& request) {
  request.query.only({});
  Fields::of_body(request.body).only({});
  const auto& name = request.place("name");
  const auto now = system_clock().wall();
  const auto revoked = tokens_of(service).revoke(name, actor(request), now);
  if (!revoked) throw not_found(fmt::format("there is no token '{}' that could be revoked", name));
  return json_response(token_json(*revoked, now));
}

}  // namespace

void add_token_routes(Routes& routes, Service& service) {
  auto add_route = [&](const char* method, const char* path,
                       Response (*handler)(Service&, const Request&)) {
    routes.add({.method = method,
                .pattern = path,
                .access = Access::admin,
                .handler = [&service,
                            handler](const Request& request) { return handler(service, request); },
                .audited = std::string_view{method} == "POST",
                .asks = Asks::server});
  };
  add_route("GET", "/v1/tokens", list_tokens);
  add_route("POST", "/v1/tokens", add);
  add_route("POST", "/v1/tokens/{name}/revoke", revoke);
}

}  // namespace holdfast::server
