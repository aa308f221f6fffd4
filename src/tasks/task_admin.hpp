#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>
#include "tasks/stretch.hpp"

namespace holdfast {

/// A transition that the store keeps because it cannot be derived from the task itself.
struct RecordedTransition {
  Transition transition;
  /// When the attempt that this step ended was claimed, and by whom, so that its beginning can be
  /// derived. Nothing for steps that ended no attempt.
  std::optional<WallTime> claimed_at{};
  std::optional<WorkerId> worker{};
};

/// Why a running task that somebody wants to stop is in its history although it goes on running.
inline constexpr std::string_view reason_to_stop = "It was asked to stop.";

/// What people and tools need beyond running tasks: looking, counting, and acting on many at once.
/// Each action changes only tasks whose state allows it and records who did it.
class TaskAdmin {
 public:
  virtual ~TaskAdmin() = default;

  virtual std::vector<TaskRecord> search(const TaskFilter& filter, const TaskPage& page) = 0;
  /// `go_on` is asked now and then while tasks are looked at one by one; false: what was counted
  /// until then is enough.
  virtual std::int64_t count(const TaskFilter& filter, const std::function<bool()>& go_on) = 0;
  std::int64_t count(const TaskFilter& filter) { return count(filter, {}); }
  /// Where a store does not keep these counts, this reads an entry for each task.
  virtual std::vector<QueueStatus> queues() = 0;
  /// Those that start no more tasks.
  virtual std::vector<std::string> paused() = 0;
  /// Recorded transitions only, oldest first.
  virtual std::vector<RecordedTransition> recorded_history(TaskId id, Stretch stretch) = 0;
  std::vector<RecordedTransition> recorded_history(TaskId id) { return recorded_history(id, {}); }
  /// How many there are.
  virtual std::int64_t recorded_steps(TaskId id) = 0;
  /// Oldest first, without the first `skip` of them, `most` at the most.
  virtual std::vector<LogLine> logs(TaskId id, std::int64_t skip, int most) = 0;
  std::vector<LogLine> logs(TaskId id) { return logs(id, 0, std::numeric_limits<int>::max()); }

  /// Moves every task that matches to `action.to`, where the transition table allows it.
  struct Move {
    TaskState to = TaskState::cancelled;
    std::vector<TaskState> from{};  ///< only tasks in these states
    bool fresh_attempts = false;    ///< attempts and crashes count from zero again
    bool ask_running = false;       ///< running tasks are not moved but asked to stop
    std::string actor;
    std::string reason;
    /// Hears of every task that changed state, once that is committed. Running tasks that are only
    /// asked to stop have not.
    std::function<void(TaskId id, const std::string& kind, const Transition& step)> on_change{};
  };
  virtual std::int64_t move(const TaskFilter& filter, const Move& move) = 0;

  virtual void set_paused(const std::string& queue, bool paused, const std::string& actor) = 0;

  /// Removes up to `limit` finished tasks beyond the retention limits, oldest first. A short step:
  /// call it again while it removes any. Where another process is at it, it is left to that one.
  struct Pruned {
    std::int64_t removed = 0;
    bool hurry = false;  ///< there is more than the limits of number and size allow
  };
  virtual Pruned prune(const Settings::Retention& retention, int limit) = 0;
  /// The same until nothing is left to remove, or about a hundred thousand were; returns how many.
  std::int64_t prune(const Settings::Retention& retention);
};

}  // namespace holdfast
