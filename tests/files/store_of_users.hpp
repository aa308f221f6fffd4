#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

inline bool is_root() { return ::geteuid() == 0; }

/// Two users and a group that no program of this machine runs as.
constexpr uid_t ada = 61'001;
constexpr uid_t bob = 61'002;
constexpr gid_t team = 61'100;

struct Identity {
  uid_t user = ::geteuid();
  gid_t group = ::getegid();
};

/// What `stat` says of a path itself, a link not being followed.
struct stat status_of(const std::string& path);
std::string content_of(const std::string& path);
/// Every file and folder in a folder, that one included.
std::vector<std::string> all_in(const std::string& folder);

/// Runs the program on a store in a folder of its own, as other users and with other umasks too.
class StoreOfUsers : public testing::Test {
 protected:
  /// The words that run the program as a user. Only root can run it as another one.
  std::vector<std::string> words(std::vector<std::string> arguments, Identity who = {}) const;
  Finished cli(std::vector<std::string> arguments, Identity who = {}) const;
  /// The same; a failure of the program fails the test.
  std::string ok(std::vector<std::string> arguments, Identity who = {}) const;
  /// Expects that it is refused, and returns what it says.
  std::string refusal(std::vector<std::string> arguments, Identity who = {}) const;
  /// The same for `holdfast serve`, which is ended if it serves.
  std::string serve_refusal(std::vector<std::string> arguments = {}, Identity who = {}) const;

  /// A file with a content that must stay.
  std::string victim() const;
  void expect_untouched(const std::string& victim) const;

  std::string side(const std::string& name) const {
    return store_.database() + ".holdfast/" + name;
  }

  TempStore store_;
  std::string address_ = store_.address();
  std::string umask_ = "022";
  std::string current_folder_ = "/";
};

}  // namespace holdfast::test
