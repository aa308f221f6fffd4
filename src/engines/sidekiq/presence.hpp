#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engines/redis/server.hpp"

namespace holdfast::sidekiq {

/// Makes a process appear among Sidekiq's own: on its web page, with its counters, and with the
/// buttons there that send it signals.
class Presence {
 public:
  Presence(redis::Server& server, int capacity, std::vector<std::string> queues);

  struct Now {
    int busy = 0;
    bool quiet = false;
    std::int64_t processed = 0;  ///< since the last word
    std::int64_t failed = 0;
  };
  /// To be said every few seconds. Returns a signal that somebody sent by the web page.
  std::optional<std::string> beat(const Now& now);
  void leave();

  const std::string& identity() const { return identity_; }

 private:
  redis::Server& server_;
  std::string identity_;
  std::string info_;
};

}  // namespace holdfast::sidekiq
