#include "server/users.hpp"

#include <sodium.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "recovery/private_content.hpp"
#include "server/secrets.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t longest_password = 1'000;  // a megabyte would keep a core busy
constexpr std::size_t shortest_password = 8;

std::string hash_of(const std::string& password) {
  if (sodium_init() < 0) throw ConfigError{"libsodium would not start"};
  char hash[crypto_pwhash_STRBYTES];
  if (crypto_pwhash_str_alg(hash, password.data(), password.size(),
                            crypto_pwhash_OPSLIMIT_INTERACTIVE, crypto_pwhash_MEMLIMIT_INTERACTIVE,
                            crypto_pwhash_ALG_ARGON2ID13) != 0)
    throw ConfigError{"there is not enough memory to hash a password"};
  return hash;
}

std::string look_of_users(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return fmt::format("{} {} {} {} {} {}", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
}

std::map<std::string, User> read(const std::string& path) {
  if (!std::filesystem::exists(path))
    throw ConfigError{
        fmt::format("there is no file {} with users; 'holdfast user add' makes it", path)};
  std::istringstream file{read_trusted_file(path, fmt::format("the file {} with users", path))};
  std::map<std::string, User> users;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words{line};
    User user;
    std::string role;
    words >> user.name >> role >> user.hash;
    const auto known = parse_role(role);
    if (!known || user.hash.empty())
      throw ConfigError{fmt::format(
          "{}:{}: expected NAME, a role (viewer, operator, admin) and a hash", path, number)};
    user.role = *known;
    users[user.name] = user;
  }
  return users;
}

void check(const std::string& name, const std::string& password) {
  if (!is_user_name(name))
    throw InvalidRequest{
        fmt::format("'{}' is not a user name: up to 64 letters, digits and -_.@", name)};
  if (password.size() < shortest_password || password.size() > longest_password)
    throw InvalidRequest{
        fmt::format("a password has {} to {} bytes", shortest_password, longest_password)};
}

/// Hashes are salted: the same password given again has another one.
KnownUser known(const User& user) {
  return {user.role, fingerprint(fmt::format("{} {}", to_string(user.role), user.hash))};
}

}  // namespace

bool is_user_name(std::string_view name) {
  const bool plain = std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' || letter == '.' ||
           letter == '@';
  });
  return plain && !name.empty() && name.size() <= 64;
}

const std::map<std::string, User>& Users::current() {
  const auto look = look_of_users(path_);
  if (look.empty() || look != read_at_) {
    users_ = read(path_);
    read_at_ = look;
  }
  return users_;
}

std::vector<User> Users::list() {
  std::lock_guard lock{mutex_};
  std::vector<User> all;
  for (const auto& [name, user] : current()) all.push_back(user);
  return all;
}

std::optional<KnownUser> Users::find(const std::string& name) {
  std::lock_guard lock{mutex_};
  const auto& users = current();
  const auto found = users.find(name);
  if (found == users.end()) return {};
  return known(found->second);
}

std::optional<KnownUser> Users::verify(const std::string& name, const std::string& password) {
  static const std::string nobody = hash_of("nobody has this password");
  std::optional<User> user;
  {
    std::lock_guard lock{mutex_};
    const auto& users = current();
    if (const auto found = users.find(name); found != users.end()) user = found->second;
  }
  const auto& hash = user ? user->hash : nobody;
  if (password.size() > longest_password) return {};
  const bool right = crypto_pwhash_str_verify(hash.c_str(), password.data(), password.size()) == 0;
  if (!right || !user) return {};
  return known(*user);
}

void Users::add(const std::string& name, Role role, const std::string& password) {
  check(name, password);
  std::lock_guard lock{mutex_};
  if (!look_of_users(path_).empty()) current();
  users_[name] = {name, role, hash_of(password)};
  save();
}

bool Users::remove(const std::string& name) {
  std::lock_guard lock{mutex_};
  current();
  if (users_.erase(name) == 0) return false;
  save();
  return true;
}

void Users::save() {
  std::string text = "# Who may log in to 'holdfast serve'; 'holdfast user' changes this file.\n";
  for (const auto& [name, user] : users_)
    text += fmt::format("{} {} {}\n", name, to_string(user.role), user.hash);
  write_private_file(path_, text);
  read_at_ = look_of_users(path_);
}

}  // namespace holdfast::server
