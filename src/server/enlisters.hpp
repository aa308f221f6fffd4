#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "recovery/worker_registry.hpp"
#include "server/audit.hpp"

namespace holdfast::server {

/// Who enlisted which remote worker. The audit log has it durably, before the worker knows its id;
/// this is what of it can be asked for quickly: the last ten thousand, also those of earlier runs
/// of the server and those that are gone. Worker ids are never used again, so an entry can be
/// missing, but never be about another worker. Safe to use from many threads.
class Enlisters {
 public:
  /// Reads what the audit log has.
  explicit Enlisters(const Audit& audit);

  /// How the outcome of enlisting is written into the audit log.
  static std::string outcome(WorkerId worker) { return "worker " + worker.text(); }
  static constexpr const char* path = "/v1/remote/workers";

  void add(WorkerId worker, std::string by);
  /// Empty: that is not known, or it is no remote worker.
  std::string of(WorkerId worker) const;

 private:
  mutable std::mutex mutex_;
  std::map<WorkerId, std::string> by_;
  std::deque<WorkerId> order_;  ///< the oldest first
};

}  // namespace holdfast::server
