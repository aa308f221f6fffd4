#pragma once

#include <functional>
#include <map>
#include <string>

#include <holdfast/events.hpp>

#include "engines/sidekiq/registry.hpp"

namespace holdfast::sidekiq {

struct RecoveryOptions {
  std::string process{};  ///< who looks
  Millis heartbeat_interval{0};
  Millis orphan_threshold{0};
  std::int64_t ttl_seconds = 0;
  int max_recoveries = 3;
};

struct Recovered {
  int again = 0;   ///< put back on their queue
  int dead = 0;    ///< had died too often, or may have been sent
  int failed = 0;  ///< could not be put back; they stay where they are
};

/// Takes requests from dead processes and puts their jobs back on their queues. Correct whoever
/// else does the same at the same time; the gem's lock only keeps many from looking at once.
class Recovery {
 public:
  using Log = std::function<void(Severity, const std::string&)>;
  Recovery(redis::Server& server, const Dialect& dialect, RecoveryOptions options, Log log);

  /// By age, if no other one of ours has looked for a heartbeat's time.
  Recovered run_once();
  /// At once, from processes of ours that are known to be dead, by the life that each has lost.
  Recovered recover_from(const std::map<std::string, std::string>& dead);

 private:
  struct Orphan {
    std::string id;
    std::string process;
    std::string phase;
    std::string text;
  };
  std::string key(std::string_view name) const;
  bool may_look();
  void done_looking();
  /// Unless another process has the lock by now.
  void unlock();
  /// Some of those that were not tried yet.
  std::vector<Orphan> find(const std::map<std::string, std::string>& dead,
                           const std::vector<std::string>& tried);
  Recovered recover_all(const std::map<std::string, std::string>& dead);
  /// False: it is still there, or was not its process's any more.
  bool recover(const Orphan& orphan, const std::map<std::string, std::string>& dead,
               Recovered& all);
  std::string take_over(const Orphan& orphan, const std::string& life, const Effect& effect);

  redis::Server& server_;
  const Dialect& dialect_;
  RecoveryOptions options_;
  Log log_;
};

}  // namespace holdfast::sidekiq
