#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/inspector.hpp>

#include "server/history.hpp"
#include "server/hub.hpp"
#include "server/roll.hpp"

namespace holdfast::server {

/// Looks at one store once a second, for all clients together: tells the hub what changed and the
/// history how it is. Stores have no common sequence of changes to follow, so what is the same as
/// a second ago is found by comparing.
class Watcher {
 public:
  /// The first look has ended when this returns, unless the store keeps it waiting.
  Watcher(Engine engine, std::shared_ptr<Hub> hub, std::shared_ptr<History> history);

  /// Looks now unless that was done within the last second, so that the hub is up to date.
  void refresh();
  /// Why the store could not be asked the last time; empty: it could.
  std::string trouble() const;
  /// Somebody acted, so it looks again as soon as it can.
  void acted();
  /// See `Roll`.
  std::vector<Figures::OfKind> last_hour();

 private:
  struct Counted {
    WallTime at{};
    std::int64_t all = 0;
  };

  void watch(std::stop_token stop);
  void rest(std::stop_token stop, Millis took);
  void look(bool for_clients);
  void look_at_queues(const std::vector<QueueStatus>& queues);
  void look_at_workers(const std::vector<WorkerStatus>& workers, WallTime now);
  void look_at_recovery();
  Point measure(const std::vector<QueueStatus>& queues, const std::vector<WorkerStatus>& workers,
                WallTime now);
  void tell(const std::string& type, const std::string& key, const std::string& document);

  Engine engine_;
  Inspector inspector_;
  std::shared_ptr<Hub> hub_;
  std::shared_ptr<History> history_;

  std::mutex looking_;  ///< one at a time
  std::optional<WallTime> told_{};
  std::map<std::string, std::string> last_;  ///< by type, what clients know
  std::map<std::string, std::string> queue_counts_;
  std::optional<std::set<ReportId>> reports_{};
  std::optional<Counted> counted_{};
  Roll roll_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;  ///< anything of what follows
  std::string trouble_{};
  bool acted_ = false;
  bool looked_ = false;
  std::jthread thread_;  // last: ends before what it uses is gone
};

}  // namespace holdfast::server
