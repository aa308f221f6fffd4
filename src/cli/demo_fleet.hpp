#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/demo_ledger.hpp"

namespace holdfast::cli {

struct DemoKill {
  int pid = 0;
  DemoTime at{};
};

/// The demo's worker processes, and what is done to them.
class DemoFleet {
 public:
  /// `folder` has the store, the ledgers and the workers' log.
  explicit DemoFleet(std::string folder) : folder_{std::move(folder)} {}
  ~DemoFleet();
  DemoFleet(const DemoFleet&) = delete;
  DemoFleet& operator=(const DemoFleet&) = delete;

  /// Brings the number of workers to `count`. `interval_ms` 0: the default heartbeat.
  void fill(std::size_t count, int interval_ms);
  std::size_t size() const { return workers_.size(); }

  /// kill -9 of the n-th; nobody is told.
  void kill(std::size_t n);
  void stop(std::size_t n) const;      ///< SIGSTOP; returns when it stands still
  void carry_on(std::size_t n) const;  ///< SIGCONT
  /// Lets all of them finish what they run and say goodbye.
  void dismiss();
  /// How many ended by themselves since the last time, which is not part of the plan.
  std::size_t take_lost();

  const std::vector<DemoKill>& kills() const { return kills_; }

 private:
  std::string folder_;
  std::vector<pid_t> workers_;
  std::vector<DemoKill> kills_;
};

}  // namespace holdfast::cli
