#pragma once

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
};

struct QueueStatus {
  std::string queue;
  bool paused = false;
  std::int64_t counts[task_state_count] = {};
  std::optional<WallTime> oldest_pending{};  ///< the one that has been ready longest
};

enum class WorkerState { running, stopped, dead };

struct WorkerStatus {
  WorkerId id;
  std::string host;
  int pid = 0;
  WorkerState state = WorkerState::running;
  std::string proof;  ///< how alive or dead is known: `lock held`, `lock released`
  WallTime started_at{};
  WallTime last_heartbeat{};
  std::vector<std::string> queues;  ///< empty: all
  std::vector<std::string> kinds;
  int concurrency = 0;
  std::vector<TaskId> holding;  ///< as of its last heartbeat
  std::string cause;            ///< of death
  std::string evidence;
};

/// Looks at a store and acts on it. The command line and the server both go through this, so they
/// agree. Actions return how many tasks they changed; each is recorded with its actor.
class Inspector {
 public:
  explicit Inspector(Engine engine, std::string actor = "operator");

  std::optional<TaskRecord> task(TaskId id) const;
  std::vector<TaskRecord> tasks(const TaskFilter& filter, TaskPage page = {}) const;
  std::int64_t count(const TaskFilter& filter) const;
  std::vector<Transition> history(TaskId id) const;
  std::vector<LogLine> logs(TaskId id) const;
  /// One sentence on why the task is not running, or what it is doing.
  std::string explain(TaskId id) const;

  std::vector<QueueStatus> queues() const;
  std::vector<WorkerStatus> workers() const;
  std::vector<RecoveryReport> reports(int newest = 1) const;
  std::int64_t stale_writes_refused() const;
  /// What a crash of the store may cost, in words: `power-safe` or `crash-safe`.
  std::string durability() const;
  RunLevel run_level() const { return engine_.run_level(); }
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
  /// Runs recovery now: takes back what dead workers held.
  RecoveryReport recover(std::optional<RecoveryAction> action = {});
  /// Removes finished tasks beyond the retention limits; returns how many.
  std::int64_t prune();

 private:
  Engine engine_;
  std::string actor_;
};

}  // namespace holdfast
