#include <functional>

#include <holdfast/error.hpp>

#include "documents/json.hpp"
#include "recovery/time_text.hpp"
#include "server/embedded.hpp"
#include "server/fields.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "server/static_files.hpp"

namespace holdfast::server {

std::span<const EmbeddedFile> document_files();

namespace {

/// Anybody may send one, so it takes next to no memory.
constexpr std::size_t largest_login = 4 * 1024;

std::string_view to_string(Caller::By by) {
  switch (by) {
    case Caller::By::session:
      return "session";
    case Caller::By::bearer:
    case Caller::By::token:
      return "bearer";
    default:
      return "no-auth";
  }
}

std::string session_json(Service& service, const Caller& caller,
                         const std::optional<Session>& session) {
  return JsonObject{}
      .text("user", caller.name)
      .text("role", server::to_string(caller.role))
      .text("by", to_string(caller.by))
      .json("csrf", session ? json_string(session->csrf) : "")
      .json("expires_at", session ? json_string(iso8601(session->expires)) : "")
      .flag("read_only", service.gate().read_only())
      .text("version", HOLDFAST_VERSION)
      .str();
}

/// A login is in the audit log before the caller has its cookie. How often it was tried in vain it
/// has, too, but for those whom we could not even check.
Session audited(Service& service, const Request& request, const std::string& user,
                const std::function<Session()>& log_in) {
  const auto way = request.method + " " + request.path;
  Session session;
  try {
    session = log_in();
  } catch (const Problem& problem) {
    if (problem.status() == 401 || problem.status() == 429)
      service.logins().failed(way, user, request.peer, problem.status() == 429);
    throw;
  }
  try {
    service.logins().in(way, session.user, request.peer);
  } catch (const StoreError& error) {
    service.gate().forget(session);
    service.options().warn("audit_unwritable", error.what());
    throw Problem{503, "audit_unavailable",
                  "logins cannot be recorded at this moment; the log of the server says why"};
  }
  return session;
}

Response log_in(Service& service, const Request& request) {
  request.query.only({});
  const auto fields = Fields::of_body(request.body);
  fields.only({"token", "user", "password"});
  const auto token = fields.text("token").value_or("");
  const auto user = fields.text("user").value_or("");
  if (token.empty() == user.empty())
    throw invalid("log in with a token, or with user and password");
  const auto session = audited(service, request, user, [&] {
    return service.gate().log_in(request, token, user, fields.text("password").value_or(""));
  });
  auto response = json_response(session_json(
      service, {.name = session.user, .role = session.role, .by = Caller::By::session}, session));
  response.headers.push_back(service.gate().cookie_header(session));
  return response;
}

/// People open the link again, from their history or the terminal. They are led to the pages, which
/// know who is signed in and say the rest; programs are told by the status.
Response log_in_once(Service& service, const Request& request) {
  request.query.only({"once"});
  Response response;
  response.status = 303;
  response.content_type.clear();
  try {
    const auto session = audited(service, request, {}, [&] {
      return service.gate().log_in_once(request.query.text("once"));
    });
    response.headers = {{"Location", "/"}, service.gate().cookie_header(session)};
  } catch (const Problem&) {
    if (request.header("sec-fetch-mode") != "navigate") throw;
    response.headers = {{"Location", "/?link=spent"}};
  }
  return response;
}

Response log_out(Service& service, const Request& request) {
  service.gate().log_out(request);
  if (request.caller.by == Caller::By::session)
    service.logins().out(request.caller.name, request.peer);
  auto response = no_content();
  response.headers.push_back(service.gate().no_cookie_header());
  return response;
}

}  // namespace

void add_session_routes(Routes& routes, Service& service) {
  auto add = [&](const char* method, const char* path, Access access,
                 Response (*handler)(Service&, const Request&)) {
    routes.add({.method = method,
                .pattern = path,
                .access = access,
                .handler = [&service,
                            handler](const Request& request) { return handler(service, request); },
                .largest_body = largest_login,
                .asks = Asks::server});
  };
  add("GET", "/login", Access::everybody, log_in_once);
  add("POST", "/v1/login", Access::everybody, log_in);
  add("POST", "/v1/logout", Access::viewer, log_out);
  add("GET", "/v1/session", Access::viewer, [](Service& all, const Request& request) {
    request.query.only({});
    return json_response(session_json(all, request.caller, all.gate().session_of(request)));
  });
  add("GET", "/v1/openapi.json", Access::viewer, [](Service&, const Request& request) {
    return serve_file(request, document_files().front());
  });
}

}  // namespace holdfast::server
