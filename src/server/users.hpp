#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/role.hpp"

namespace holdfast::server {

struct User {
  std::string name;
  Role role = Role::viewer;
  std::string hash;  ///< of the password, by argon2id
};

/// The people who may log in: a file with a line for each, `NAME ROLE HASH`. It is read again when
/// it has changed, so that who is removed is out at once.
class Users {
 public:
  explicit Users(std::string path) : path_{std::move(path)} {}

  /// Throws `ConfigError` if the file cannot be read or a line makes no sense.
  std::vector<User> list();
  /// The role, if that is the password. Takes as long for a name that is not there.
  std::optional<Role> verify(const std::string& name, const std::string& password);
  /// Nothing: there is no such user any more.
  std::optional<Role> role_of(const std::string& name);

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
