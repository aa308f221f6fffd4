#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/role.hpp"

namespace holdfast::server {

struct User {
  std::string name;
  Role role = Role::viewer;
  std::string hash;  ///< of the password, by argon2id
};

/// Whether a user can be called that: up to 64 letters, digits and -_.@
bool is_user_name(std::string_view name);

/// What a user may do now, and by what that can be told from what it was before.
struct KnownUser {
  Role role = Role::viewer;
  /// Another one once the user was given a password or another role. Tells nothing of either.
  std::string credential{};
};

/// The people who may log in: a file with a line for each, `NAME ROLE HASH`. It is read again when
/// it has changed, whichever process changed it, so a change counts from the next request on. Safe
/// to use from many threads.
class Users {
 public:
  explicit Users(std::string path) : path_{std::move(path)} {}

  /// Throws `ConfigError` if the file cannot be read or a line makes no sense; so do the others.
  /// The message names the file: it is for the log, never for a caller.
  std::vector<User> list();
  /// The user, if that is the password. Takes as long for a name that is not there.
  std::optional<KnownUser> verify(const std::string& name, const std::string& password);
  /// Nothing: there is no such user any more.
  std::optional<KnownUser> find(const std::string& name);

  /// Adds a user, or gives one a new password and role.
  void add(const std::string& name, Role role, const std::string& password);
  bool remove(const std::string& name);

 private:
  const std::map<std::string, User>& current();
  void save();

  std::string path_;
  std::mutex mutex_;
  std::map<std::string, User> users_;
  std::string read_at_{};  ///< what the file looked like when it was read
};

}  // namespace holdfast::server
