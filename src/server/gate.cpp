#include "server/gate.hpp"

#include <algorithm>
#include <semaphore>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/error.hpp>

#include <holdfast/error.hpp>

#include "recovery/clock.hpp"
#include "recovery/time_text.hpp"
#include "server/problem.hpp"
#include "server/secrets.hpp"

namespace holdfast::server {

namespace {

constexpr std::chrono::minutes code_lasts{10};

WallTime now() { return system_clock().wall(); }

/// Hashing a password takes 64 MB and a tenth of a second on purpose. Two at a time, so that a
/// flood of logins takes neither the memory nor the threads that others need.
std::optional<KnownUser> verify(Users& users, const std::string& user,
                                const std::string& password) {
  static std::counting_semaphore<2> seats{2};
  if (!seats.try_acquire())
    throw Problem{503, "busy", "too many people log in at this moment; try again"};
  struct Release {
    ~Release() { seats.release(); }
  } release;
  return users.verify(user, password);
}

void check_brake(LoginBrake& brake, const std::string& user, const std::string& peer) {
  const auto wait = brake.wait(user, peer, system_clock().steady());
  if (wait <= Millis{0}) return;
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  throw Problem{429, "rate_limited",
                fmt::format("too many failed logins; try again in {}", duration_text(wait))}
      .with("Retry-After", std::to_string(seconds));
}

/// The last address in `X-Forwarded-For`: what our proxy saw. Those before it are what callers say.
std::optional<http::Address> last_hop(std::string_view forwarded) {
  forwarded.remove_prefix(std::min(forwarded.size(), forwarded.rfind(',') + 1));
  while (forwarded.starts_with(' ')) forwarded.remove_prefix(1);
  while (forwarded.ends_with(' ')) forwarded.remove_suffix(1);
  // Some proxies add the port: 192.0.2.1:4711, [2001:db8::1]:4711.
  if (forwarded.starts_with('['))
    forwarded = forwarded.substr(1, forwarded.find(']') - 1);
  else if (std::ranges::count(forwarded, ':') == 1)
    forwarded = forwarded.substr(0, forwarded.find(':'));
  return http::Address::parse(forwarded);
}

/// `localhost:8080` without its port, in lower case.
std::string host_name(std::string_view host) {
  const auto bracket = host.find(']');
  const auto colon = host.find(':', bracket == host.npos ? 0 : bracket);
  std::string name{host.substr(0, colon)};
  for (char& letter : name)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return name;
}

std::string cookie_in(std::string_view cookies, const std::string& name) {
  while (!cookies.empty()) {
    const auto end = std::min(cookies.find(';'), cookies.size());
    auto cookie = cookies.substr(0, end);
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    while (cookie.starts_with(' ')) cookie.remove_prefix(1);
    if (cookie.starts_with(name) && cookie.substr(name.size()).starts_with('='))
      return std::string{cookie.substr(name.size() + 1)};
  }
  return {};
}

bool changes_something(const Request& request) {
  return request.method != "GET" && request.method != "HEAD";
}

}  // namespace

void Gate::see_through_proxy(Request& request) const {
  if (!options_.behind_proxy) return;
  const auto peer = http::Address::parse(request.peer);
  const bool trusted = peer && std::ranges::any_of(options_.proxies, [&](const auto& network) {
                         return network.contains(*peer);
                       });
  // Whether it is alive is asked by machines that stand beside the proxy, and tells nothing.
  const bool asks_whether_alive = request.path == "/healthz" || request.path == "/readyz";
  if (!trusted && !asks_whether_alive)
    throw Problem{403, "not_the_proxy",
                  "this server is behind a proxy and answers the proxy only; call the proxy"};
  if (!trusted) return;
  if (const auto seen = last_hop(request.header("x-forwarded-for"))) request.peer = seen->text();
}

void Gate::admit(Request& request, Access access, bool acts) {
  see_through_proxy(request);
  check_host(request);
  check_origin(request, access);
  acts = acts && changes_something(request);
  if (acts) check_form(request);
  request.caller = caller_of(request);
  request.caller.role = capped(request.caller.role);
  const auto needed = role_for(access);
  if (!needed) return;
  if (request.caller.by == Caller::By::nobody)
    throw Problem{401, "unauthenticated",
                  "log in, or send a bearer token, as 'holdfast token add' makes them"};
  if (request.caller.by == Caller::By::session && acts) {
    const auto session = session_of(request);
    if (!session || !same_secret(session->csrf, request.header("x-csrf-token")))
      throw Problem{403, "csrf", "X-CSRF-Token is not what /v1/session says; load the page again"};
  }
  check_rights(request.caller, access);
}

void Gate::check_rights(const Caller& caller, Access access) const {
  const auto needed = role_for(access);
  if (access != Access::undeclared && caller.role >= *needed) return;
  const auto scope = scope_for(access);
  const bool changes = scope == Scope::enqueue || scope == Scope::work;
  if (scope && caller.token && caller.token->has(*scope) && !(options_.read_only && changes))
    return;
  const auto why = options_.read_only ? ": the server was started with --read-only" : "";
  if (!caller.token)
    throw Problem{403, "forbidden",
                  fmt::format("this takes the role {}, and {} has the role {}{}",
                              to_string(*needed), caller.name, to_string(caller.role), why)};
  std::vector<std::string_view> has;
  for (const auto each : caller.token->scopes) has.push_back(to_string(each));
  throw Problem{403, "forbidden",
                fmt::format("this takes a token with the scope {}, and the token '{}' has {}{}",
                            scope ? to_string(*scope) : to_string(*needed), caller.name,
                            fmt::join(has, ", "), why)};
}

bool Gate::still_admits(const Request& request) {
  const auto& caller = request.caller;
  try {
    if (caller.token) return options_.tokens->is_active(*caller.token, now());
    return caller.by != Caller::By::session || session_of(request).has_value();
  } catch (const ConfigError&) {
    return false;  // who is still in cannot be read any more
  }
}

void Gate::check_host(const Request& request) const {
  const auto host = host_name(request.header("host"));
  if (options_.hosts.contains(host)) return;
  throw Problem{421, "wrong_host",
                fmt::format("this server is not called '{}'; if it is, start it with "
                            "--allow-host {}",
                            host, host)};
}

void Gate::check_origin(const Request& request, Access access) const {
  const auto site = request.header("sec-fetch-site");
  // A link may lead here from anywhere; what a page of others asks for by itself is refused.
  const bool leads_here = request.header("sec-fetch-mode") == "navigate" &&
                          access == Access::everybody && !changes_something(request);
  if (!site.empty() && site != "same-origin" && site != "none" && !leads_here)
    throw Problem{403, "cross_site", "this came from a page of another site"};
  const auto origin = request.header("origin");
  if (origin.empty()) return;
  const auto scheme = origin.find("://");
  if (scheme == origin.npos || origin.substr(scheme + 3) != request.header("host"))
    throw Problem{403, "cross_site", "the origin of this request is another site"};
}

void Gate::check_form(const Request& request) const {
  // A form of another site cannot send this type without asking first.
  const auto type = request.header("content-type");
  if (type != "application/json" && !type.starts_with("application/json;"))
    throw Problem{415, "not_json", "send the content type application/json"};
}

Caller Gate::caller_of(const Request& request) {
  if (options_.no_auth) return {.name = "anybody", .role = Role::admin, .by = Caller::By::no_auth};
  constexpr std::string_view scheme = "Bearer ";
  if (const auto given = request.header("authorization"); given.starts_with(scheme)) {
    const auto secret = given.substr(scheme.size());
    if (secret.starts_with(token_prefix)) return program(secret);
    if (same_secret(secret, options_.token))
      return {.name = "token", .role = Role::admin, .by = Caller::By::bearer};
    throw Problem{401, "unauthenticated", "that is not the token of this server"};
  }
  if (auto session = session_of(request))
    return {.name = session->user,
            .role = session->role,
            .by = Caller::By::session,
            .session = session->id};
  return {};
}

Caller Gate::program(std::string_view secret) {
  if (!options_.tokens) throw Problem{401, "unauthenticated", "this server knows no such token"};
  try {
    auto token = options_.tokens->find(secret, now());
    const auto role = token->role();
    return {.name = token->name, .role = role, .by = Caller::By::token, .token = std::move(token)};
  } catch (const ConfigError&) {
    // Where the file is, and what is wrong with it, is for those who run the server.
    throw Problem{503, "tokens_away",
                  "the tokens of this server cannot be read now; 'holdfast token list' says why"};
  }
}

std::optional<Session> Gate::session_of(const Request& request) {
  const auto id = cookie_in(request.header("cookie"), cookie_name());
  if (id.empty()) return {};
  auto session = sessions_.find(id, now());
  if (!session || session->credential.empty()) return session;
  // Users get other passwords and roles, and go, while they are logged in.
  std::optional<KnownUser> user;
  try {
    if (options_.users) user = options_.users->find(session->user);
  } catch (const ConfigError& error) {
    tell_of_users(error.what());
    return {};
  }
  if (!user || user->credential != session->credential) {
    sessions_.end(id);
    return {};
  }
  session->role = user->role;
  return session;
}

/// The reason names a file, so it is not for callers. They can ask often, so it is not told often.
void Gate::tell_of_users(const std::string& trouble) {
  constexpr Millis seldom{60'000};
  {
    std::lock_guard lock{mutex_};
    const auto now = system_clock().steady();
    if (users_told_ > Millis{0} && now - users_told_ < seldom) return;
    users_told_ = now;
  }
  options_.trouble(trouble);
}

Session Gate::log_in(const Request& request, const std::string& token, const std::string& user,
                     const std::string& password) {
  check_brake(brake_, user, request.peer);
  std::optional<Session> session;
  try {
    if (!token.empty() && same_secret(token, options_.token))
      session = sessions_.begin("token", capped(Role::admin), {}, now());
    else if (!user.empty() && options_.users)
      if (const auto known = verify(*options_.users, user, password))
        session = sessions_.begin(user, capped(known->role), known->credential, now());
  } catch (const ConfigError& error) {
    tell_of_users(error.what());
    throw Problem{503, "users_unavailable",
                  "users cannot log in at this moment; the log of the server says why"};
  }
  if (!session) {
    brake_.failed(user, request.peer, system_clock().steady());
    throw Problem{401, "unauthenticated",
                  user.empty() ? "that is not the token of this server"
                               : "there is no such user, or the password is another"};
  }
  brake_.succeeded(user, request.peer);
  return *session;
}

Session Gate::log_in_once(const std::string& code) {
  {
    std::lock_guard lock{mutex_};
    const bool right = !code_.empty() && now() < code_expires_ && same_secret(code, code_);
    if (right) {
      code_.clear();
      return sessions_.begin("token", capped(Role::admin), {}, now());
    }
  }
  throw Problem{401, "unauthenticated",
                "this link was used before, or is too old; log in with the token"};
}

void Gate::log_out(const Request& request) { sessions_.end(request.caller.session); }

std::string Gate::one_time_code() {
  std::lock_guard lock{mutex_};
  code_ = random_secret();
  code_expires_ = now() + code_lasts;
  return code_;
}

std::string Gate::cookie_name() const {
  return fmt::format("{}holdfast_session_{}", options_.secure_cookies ? "__Host-" : "",
                     options_.port);
}

std::pair<std::string, std::string> Gate::cookie_header(const Session& session) const {
  return {"Set-Cookie",
          fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{}", cookie_name(),
                      session.id, std::chrono::seconds{Sessions::lifetime}.count(),
                      options_.secure_cookies ? "; Secure" : "")};
}

std::pair<std::string, std::string> Gate::no_cookie_header() const {
  return {"Set-Cookie", fmt::format("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0{}",
                                    cookie_name(), options_.secure_cookies ? "; Secure" : "")};
}

}  // namespace holdfast::server
