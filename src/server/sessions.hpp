#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <holdfast/task.hpp>

#include "server/role.hpp"

namespace holdfast::server {

/// Somebody who logged in with a browser.
struct Session {
  std::string id{};  ///< the secret that the cookie holds
  std::string user{};
  Role role = Role::viewer;
  bool has_password = false;  ///< a user of the file; else whoever has the token
  std::string csrf{};
  WallTime expires{};
};

/// Sessions are kept in memory only: after a restart people log in again. Safe to use from many
/// threads.
class Sessions {
 public:
  static constexpr std::chrono::hours lifetime{12};

  Session begin(std::string user, Role role, bool has_password, WallTime now);
  std::optional<Session> find(const std::string& id, WallTime now);
  void end(const std::string& id);

 private:
  void forget_old(WallTime now);

  std::mutex mutex_;
  std::map<std::string, Session> by_fingerprint_;
};

/// Makes guessing slow: after a few failures an address has to wait, longer each time. Safe to use
/// from many threads.
class LoginBrake {
 public:
  /// How long this address has to wait before it may try.
  Millis wait(const std::string& peer, Millis now);
  void failed(const std::string& peer, Millis now);
  void succeeded(const std::string& peer);

 private:
  struct Failures {
    int count = 0;
    Millis until{0};
  };
  std::mutex mutex_;
  std::map<std::string, Failures> of_;
};

}  // namespace holdfast::server
