#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/engine.hpp>
#include <holdfast/report.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

/// Which tasks. Every field narrows; an empty one does not.
struct TaskFilter {
  std::vector<TaskState> states{};
  std::string queue{};
  std::string kind{};
  std::string tag{};
  std::optional<int> priority{};
  std::optional<WallTime> created_since{};
  std::vector<TaskId> ids{};
};

struct TaskPage {
  int limit = 50;
  int offset = 0;
  bool newest_first = true;
  /// Behind this task instead of behind `offset` others, however far that is; where it is gone, the
  /// offset counts.
  std::optional<TaskId> after{};
  /// Payloads and results are cut to so many characters; `TaskRecord` has their whole size.
  std::size_t longest_text = std::numeric_limits<std::size_t>::max();
  /// Asked now and then while tasks that do not fit are passed over, with the last one that was
  /// looked at. False: enough; what was found until then is the page, and it goes on after that
  /// one.
  std::function<bool(TaskId last)> go_on{};
};

struct TaskCount {
  std::int64_t tasks = 0;
  bool complete = true;  ///< false: time was up, and there are at least so many
};

struct QueueStatus {
  std::string queue;
  bool paused = false;
  std::int64_t counts[task_state_count] = {};
  std::optional<WallTime> oldest_pending{};  ///< the one that has been ready longest

  std::int64_t count(TaskState state) const { return counts[static_cast<std::size_t>(state)]; }
};

enum class WorkerState { running, stopped, dead };

struct WorkerStatus {
  WorkerId id;
  std::string host;
  int pid = 0;
  WorkerState state = WorkerState::running;
  bool draining = false;  ///< running, and claims nothing more; as of its last heartbeat
  /// Kinds that cannot begin there (see `CannotBegin`), and why; as of its last heartbeat.
  std::map<std::string, std::string> paused_kinds{};
  /// What else keeps it from some of its work, such as queues that cannot be read, and why.
  std::map<std::string, std::string> troubles{};
  std::string proof;  ///< how alive or dead is known: `lock held`, `lock released`
  WallTime started_at{};
  WallTime last_heartbeat{};
  Millis heartbeat_interval{0};     ///< how often it is to be heard of
  Millis stale_after{0};            ///< silent for longer than this, it may be dead
  std::vector<std::string> queues;  ///< empty: all
  std::vector<std::string> kinds;
  int concurrency = 0;
  std::vector<TaskId> holding;  ///< as of its last heartbeat
  std::string cause;            ///< of death
  std::string evidence;
};

/// A worker that may be dead, before recovery has declared it so.
struct StaleWorker {
  WorkerId id;
  WallTime last_heartbeat{};
  std::vector<TaskId> tasks{};  ///< what it holds: recovery will take these back
  bool proven_dead = false;     ///< false: silent for too long, and may be alive
  std::string cause{};          ///< how we know
};

/// What the store says to a heartbeat.
struct HeartbeatAnswer {
  /// False: this worker was declared dead. It holds nothing any more.
  bool accepted = false;
  /// Of the tasks that were named: no longer held by this worker, or asked to stop. Drop them.
  std::vector<TaskId> stop{};
};

/// Looks at a store and acts on it. The command line and the server both go through this, so they
/// agree. Actions return how many tasks they changed; each is recorded with its actor.
class Inspector {
 public:
  explicit Inspector(Engine engine, std::string actor = "operator");

  std::optional<TaskRecord> task(TaskId id) const;
  std::vector<TaskRecord> tasks(const TaskFilter& filter, TaskPage page = {}) const;
  std::int64_t count(const TaskFilter& filter) const;
  /// The same, for about so long at the most.
  TaskCount count_within(const TaskFilter& filter, Millis longest) const;
  std::vector<Transition> history(TaskId id) const;
  std::vector<LogLine> logs(TaskId id) const;
  /// One sentence on why the task is not running, or what it is doing.
  std::string explain(TaskId id) const;

  std::vector<QueueStatus> queues() const;
  std::vector<WorkerStatus> workers() const;
  /// Workers that recovery would declare dead now.
  std::vector<StaleWorker> detect_stale_workers() const;
  /// Newest first, each with its first `tasks_of_each` tasks (its counts are of all).
  std::vector<RecoveryReport> reports(int newest = 1,
                                      int tasks_of_each = std::numeric_limits<int>::max()) const;
  RecoveryTotals recovery_totals() const;
  std::int64_t stale_writes_refused() const { return recovery_totals().stale_writes_refused; }
  /// The store that has everything of this one since it was moved there; empty: it was not.
  std::string moved_to() const;
  /// What a crash of the store may cost, in words: `power-safe` or `crash-safe`; `volatile` for a
  /// server that keeps little or nothing over a restart.
  std::string durability() const;
  /// What may be lost and how to change that; empty if nothing need be said.
  std::string durability_warning() const;
  RunLevel run_level() const { return engine_.run_level(); }
  /// Why the run level is not normal, and what to do; empty if it is.
  std::string why_read_only() const;
  /// The same with all that was found, such as which commits are lost. Reports of a store that may
  /// not be changed cannot be kept in it.
  std::optional<StartUp> standing_trouble() const;
  /// Looks for damage without changing anything. A full check reads everything and may take a
  /// while; `stop` ends it early.
  IntegrityResult check_integrity(bool full = false, std::stop_token stop = {}) const;

  /// Pending, blocked, held and failed tasks are cancelled at once; running ones are asked to stop
  /// (their stop token fires). With `force`, a running task is taken from its worker now.
  std::int64_t cancel(const TaskFilter& filter, bool force = false);
  /// Failed, held and cancelled tasks run again with fresh attempts.
  std::int64_t retry(const TaskFilter& filter);
  std::int64_t hold(const TaskFilter& filter, const std::string& cause);
  void pause(const std::string& queue);
  void resume(const std::string& queue);
  /// Runs recovery now: declares dead who is, and takes back what they held. Safe beside running
  /// workers and other recoveries, and to repeat: what one has taken back, no other finds. When
  /// `stop` is requested it ends after the step at hand, with a report of what was done until then.
  RecoveryReport recover(std::optional<RecoveryAction> action = {}, std::stop_token stop = {});
  /// What `recover` would do now. Nothing is changed.
  RecoveryReport plan_recovery(std::optional<RecoveryAction> action = {}) const;
  /// A heartbeat for a worker, and for tasks that it holds: their leases last from now again.
  /// Workers send their own; this is for a program that watches over one and knows that it is well
  /// although it cannot reach the store itself. Throws `StoreError` where the store is away; try
  /// again, the leases last for several heartbeats.
  HeartbeatAnswer send_heartbeat(WorkerId worker, const std::vector<TaskId>& tasks = {});
  /// Removes finished tasks beyond the retention limits; returns how many.
  std::int64_t prune();

 private:
  Engine engine_;
  std::string actor_;
};

}  // namespace holdfast
