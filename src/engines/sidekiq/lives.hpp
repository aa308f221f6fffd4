#pragma once

#include <map>
#include <memory>
#include <string>

#include "engines/redis/server.hpp"
#include "engines/sidekiq/dialect.hpp"

namespace holdfast::sidekiq {

/// Proof of death among processes of ours: each keeps a connection open and tells the others its
/// number; the kernel closes it with the process, and the server knows. Used by one thread.
class Lives {
 public:
  Lives(redis::Server& server, const Dialect& dialect, std::string process);
  ~Lives();

  /// Tells the others about this process, again if it had to connect again.
  void keep();
  /// Tells it again: others take those off the list that were not heard of for long.
  void tell();
  /// Processes whose connection is gone, and was gone the last time, with the life that each lost.
  /// Two looks must be a moment apart: a process may be connecting again.
  std::map<std::string, std::string> look();

 private:
  redis::Server& server_;
  std::string key_;
  std::string process_;
  std::unique_ptr<redis::Connection> connection_;
  std::string life_;
  std::map<std::string, std::string> missing_;
};

}  // namespace holdfast::sidekiq
