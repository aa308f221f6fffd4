#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "http/address.hpp"
#include "server/login_brake.hpp"
#include "server/request.hpp"
#include "server/role.hpp"
#include "server/sessions.hpp"
#include "server/tokens.hpp"
#include "server/users.hpp"

namespace holdfast::server {

struct GateOptions {
  bool no_auth = false;
  bool read_only = false;       ///< whoever it is, is a viewer
  bool secure_cookies = false;  ///< people come by TLS, here or at a proxy
  bool behind_proxy = false;    ///< the caller's address is what the proxy says
  /// The addresses of that proxy. Other peers are refused: they could name any address as the
  /// caller's, and bypass the TLS and the limits of the proxy.
  std::vector<http::Network> proxies{};
  int port = 0;                   ///< part of the cookie's name: cookies do not know ports
  std::set<std::string> hosts{};  ///< by which names this server may be called
  std::string token{};
  std::shared_ptr<Users> users{};    ///< nothing: only the token
  std::shared_ptr<Tokens> tokens{};  ///< of programs; nothing: there are none
  /// Gets what is for the log of the server and not for callers, such as paths. From any thread.
  std::function<void(const std::string&)> trouble = [](const std::string&) {};
};

/// Decides who may ask for what. Every request passes `admit` before anything of it is read beyond
/// its head.
class Gate {
 public:
  explicit Gate(GateOptions options) : options_{std::move(options)} {}

  /// Finds out who asks and sets `request.caller`; throws the `Problem` that is the refusal.
  /// `acts`: something may come of it; nothing does where there is no such route.
  void admit(Request& request, Access access, bool acts = true);
  /// Whether somebody who was admitted still would be: programs and people can be shut out while a
  /// request of theirs waits.
  bool still_admits(const Request& request);

  /// Opens a session; the response has the cookie. Throws `Problem` if nothing fits, or it was
  /// tried too often.
  Session log_in(const Request& request, const std::string& token, const std::string& user,
                 const std::string& password);
  /// The same by the link that is given at start-up. A wrong code keeps no one from logging in: a
  /// code has 256 bits, so there is nothing to slow down, and browsers open old links by
  /// themselves.
  Session log_in_once(const std::string& code);
  void log_out(const Request& request);
  /// Ends a session that was opened and not given to anybody.
  void forget(const Session& session) { sessions_.end(session.id); }

  /// Whether everybody is a viewer, whatever they have.
  bool read_only() const { return options_.read_only; }

  /// A code for one login within ten minutes.
  std::string one_time_code();
  std::pair<std::string, std::string> cookie_header(const Session& session) const;
  std::pair<std::string, std::string> no_cookie_header() const;
  /// Of whom a session cookie of this request is; nothing: of nobody.
  std::optional<Session> session_of(const Request& request);

 private:
  void see_through_proxy(Request& request) const;
  void tell_of_users(const std::string& trouble);
  void check_host(const Request& request) const;
  void check_origin(const Request& request, Access access) const;
  void check_form(const Request& request) const;
  void check_rights(const Caller& caller, Access access) const;
  Caller caller_of(const Request& request);
  Caller program(std::string_view secret);
  Role capped(Role role) const { return options_.read_only ? std::min(role, Role::viewer) : role; }
  std::string cookie_name() const;

  GateOptions options_;
  Sessions sessions_;
  LoginBrake brake_;
  std::mutex mutex_;
  std::string code_{};
  WallTime code_expires_{};
  Millis users_told_{0};  ///< when the log was last told that the users cannot be read; 0: never
};

}  // namespace holdfast::server
