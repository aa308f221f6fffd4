#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/integrity.hpp>
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

/// What the first process to open a store after nobody had it open found, before any work. Reports
/// of deaths while others go on have none.
struct StartUp {
  WallTime began{};
  Millis duration{0};    ///< until the store was ready
  bool unclean = false;  ///< the last one to have it open did not close it
  bool rebooted = false;
  /// The last commit that is on disk: what was acknowledged until then is there.
  struct RecoveryPoint {
    int wal_frame = 0;  ///< its last frame in the write-ahead log; 0: the log was empty
    WallTime at{};      ///< when the files were last written
    std::optional<TaskId> newest{};  ///< the newest task that is there
  };
  std::optional<RecoveryPoint> recovery_point{};
  IntegrityResult integrity{};
  std::string journal_mode{};  ///< as found
  bool wal_restored = false;   ///< the journal mode had been changed and was set back
  std::int64_t wal_bytes = 0;  ///< size of the write-ahead log as found
  int wal_frames = 0;          ///< valid frames in it
  std::string wal_unread{};    ///< why nobody looked whether it is whole; mostly empty
  int wal_frames_checkpointed = 0;
  std::string checkpoint_error{};  ///< why it could not be done (not fatal)
  std::string evidence{};          ///< where the files were copied before anything was changed
  std::string repair{};            ///< what was done: `reindexed`, `rebuilt`, `salvaged`
  std::string kept_aside{};        ///< the damaged file, after a repair that replaced it
  std::vector<Damage> losses{};    ///< what could not be saved, and what is there in part
  RunLevel level = RunLevel::normal;
  std::string reason{};  ///< why the level is not normal, and what to do
  /// The report that has all this already; nil: none.
  ReportId report{};

  /// False: it was closed well and nothing is wrong, so there is nothing to tell.
  bool found_anything() const;
};

/// How many orphans came to which end.
struct OrphanCounts {
  std::int64_t pending = 0;  ///< run again
  std::int64_t failed = 0;
  std::int64_t held = 0;
  std::int64_t cancelled = 0;
  std::int64_t not_taken = 0;  ///< could not be taken back

  std::int64_t taken() const { return pending + failed + held + cancelled; }
  std::int64_t all() const { return taken() + not_taken; }
  void count(TaskState now, bool success);
};

enum class ReportState {
  complete,
  running,      ///< its recovery is still at work
  interrupted,  ///< its recovery died: what it did until then is all here, the next one went on
  dry_run,      ///< says what a recovery would do; nothing was done
};
std::string_view to_string(ReportState state);

/// What one run of recovery found and did. Stored where anything was found. It grows in the same
/// commits that take tasks back and bury workers, so that it is true however the run ends: every
/// orphan that was ever taken back is in exactly one report.
struct RecoveryReport {
  ReportId id{};  ///< nil: found nothing, so it was not stored
  ReportState state = ReportState::complete;
  WallTime started_at{};
  WallTime completed_at{};  ///< of one that is running or was interrupted: its last commit
  Millis duration{0};
  std::string trigger{};  ///< `start-up`, `watch`, `operator`
  RecoveryAction action = RecoveryAction::retry;
  std::optional<StartUp> start_up{};
  OrphanCounts orphans{};  ///< all of them
  std::vector<RecoveredTask>
      tasks{};  ///< all of them, or the first ones where fewer were asked for
  std::vector<DeadWorker> dead_workers{};      ///< that this run declared dead
  std::vector<std::string> errors{};           ///< what did not work, besides single tasks
  int stale_writes_refused = 0;                ///< in this store, since the report before
  std::int64_t stale_writes_refused_ever = 0;  ///< since the store was made
  /// Workers and leases that are past their time by the server's clock, which may have been set: a
  /// run that is at least `look_again` later takes back those that were not renewed. Not stored.
  std::int64_t waiting = 0;
  Millis look_again{0};

  bool found_anything() const;
  /// Adds an orphan, and counts it.
  void add(RecoveredTask task);
};

/// What recovery did in a store since it was made.
struct RecoveryTotals {
  std::int64_t recoveries = 0;  ///< that found anything
  OrphanCounts orphans{};
  std::int64_t dead_workers = 0;
  std::int64_t stale_writes_refused = 0;
};

/// The report for people, one screen: of long lists the beginning.
std::string to_text(const RecoveryReport& report, WallTime now);
/// The report for programs, one JSON object.
std::string to_json(const RecoveryReport& report);
/// Reads what `to_json` wrote, of earlier versions too.
RecoveryReport report_from_json(const std::string& json);

}  // namespace holdfast
