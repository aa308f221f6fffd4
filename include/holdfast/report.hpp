#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/settings.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

/// What recovery did with one orphan.
struct RecoveredTask {
  TaskId id;
  RecoveryAction action = RecoveryAction::retry;  ///< what was asked for
  TaskState now = TaskState::pending;             ///< pending: runs again; failed; held; cancelled
  int attempt = 0;                                ///< charged so far
  int max_attempts = 0;
  std::string reason;                ///< a sentence: why this decision
  std::optional<WorkerId> worker{};  ///< who had it
  bool success = true;               ///< false: somebody else was faster, or it could not be done
  std::string error;                 ///< why not
};

struct DeadWorker {
  WorkerId id;
  std::string host;
  int pid = 0;
  WallTime last_heartbeat{};
  std::string cause;     ///< how we know: lock released, rebooted, silent for too long
  std::string evidence;  ///< signal, out of memory; empty if nothing was visible
};

/// What one run of recovery found and did. Stored where anything was found.
struct RecoveryReport {
  WallTime started_at{};
  WallTime completed_at{};
  Millis duration{0};
  std::string trigger;  ///< `start-up`, `watch`, `operator`
  std::vector<RecoveredTask> tasks;
  std::vector<DeadWorker> dead_workers;
  int stale_writes_refused = 0;                ///< in this store, since the report before
  std::int64_t stale_writes_refused_ever = 0;  ///< since the store was made

  bool found_anything() const { return !tasks.empty() || !dead_workers.empty(); }
};

/// The report for people, one screen.
std::string to_text(const RecoveryReport& report, WallTime now);
/// The report for programs, one JSON object.
std::string to_json(const RecoveryReport& report);
/// Reads what `to_json` wrote.
RecoveryReport report_from_json(const std::string& json);

}  // namespace holdfast
