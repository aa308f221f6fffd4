#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <holdfast/task.hpp>

#include "server/role.hpp"

namespace holdfast::server {

/// A person who logged in with a browser.
struct Session {
  std::string id{};  ///< the secret that the cookie holds
  std::string user{};
  Role role = Role::viewer;
  /// Of a user of the file (`KnownUser`): the session ends when the user has another one. Empty: a
  /// session of the token, which has no user.
  std::string credential{};
  std::string csrf{};
  WallTime expires{};
};

/// Sessions are kept in memory only: after a restart people log in again. Safe to use from many
/// threads.
class Sessions {
 public:
  static constexpr std::chrono::hours lifetime{12};

  Session begin(std::string user, Role role, std::string credential, WallTime now);
  std::optional<Session> find(const std::string& id, WallTime now);
  void end(const std::string& id);

 private:
  void forget_old(WallTime now);

  std::mutex mutex_;
  std::map<std::string, Session> by_fingerprint_;
};

}  // namespace holdfast::server
