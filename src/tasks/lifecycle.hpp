#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <holdfast/task.hpp>

#include "recovery/leases.hpp"
#include "tasks/task_admin.hpp"
#include "tasks/task_store.hpp"

namespace holdfast {

/// A task as far as its next change depends on it.
struct TaskRow {
  TaskId id{};
  TaskState state = TaskState::pending;
  Token token{};
  int attempt = 0;
  int crashes = 0;
  bool suspect = false;
  bool cancel_requested = false;
  bool waits = false;      ///< for others that have not completed
  bool key_taken = false;  ///< another unfinished task has its unique key
  std::optional<WallTime> claimed_at{};
  std::optional<WorkerId> worker{};  ///< which claimed it last
};

/// What becomes of a text of a task.
struct TextChange {
  bool changed = false;
  std::optional<std::string> text{};  ///< nothing: removed
  bool operator==(const TextChange&) const = default;
};

/// A change of a task, decided for the row that it was decided for and no other: what its store
/// writes, what its history keeps, and what listeners are told.
///
/// A store applies it if the task still has the state, the token and the wish to stop that it had.
/// A task that does not run has no lease; one that runs on keeps its own.
struct TaskChange {
  TaskRow before{};
  TaskState to = TaskState::pending;
  bool new_token = false;  ///< greater than all before, so writes of the last holder are refused
  int attempt = 0;
  int crashes = 0;
  bool recovered = false;  ///< one recovery more
  bool suspect = false;
  bool cancel_requested = false;
  bool forget_progress = false;
  std::optional<WallTime> run_at{};       ///< 0: at once; nothing: as before
  std::optional<WallTime> finished_at{};  ///< nothing: it is not finished
  TextChange result{}, error{}, cause{};
  /// Nothing: the task itself says all there is to say.
  std::optional<RecordedTransition> history{};
};

/// A task that came to its end, for those that wait for it.
struct EndedTask {
  TaskId id{};
  TaskState state = TaskState::completed;
  std::string_view actor{};  ///< who cancels what waits for it, if this does
};

/// Whether two tasks change in the same way, from the same row but for the id.
bool same_change(const TaskChange& one, const TaskChange& other);

/// What becomes of tasks. No function here knows a store, a clock or another task than it is given.
/// Stores see whether another change came first.
namespace lifecycle {

/// Whether a settlement may be written without a look at the task: it is done, whatever was asked
/// meanwhile, and says nothing about it but a result. `settle` would change the same.
bool is_plain_end(const Settlement& settlement);

/// The end of an attempt. One that was asked to stop in the last moment, and is not finished by
/// this, is cancelled instead.
TaskChange settle(const TaskRow& row, const Settlement& settlement, WallTime now);

/// Recovered from a worker that is dead or silent.
TaskChange reclaim(const TaskRow& row, const Verdict& verdict, WallTime now);

/// By an operator. Nothing where the task's state does not allow it, or where running it again
/// would break what its unique key promises.
std::optional<TaskChange> move(const TaskRow& row, const TaskAdmin::Move& move, WallTime now);

/// Whether an end changes anything for tasks that wait for it. After a failure they wait on, for an
/// operator to retry it.
bool reaches_dependents(TaskState end);

inline constexpr std::string_view everything_completed = "Everything it waited for has completed.";

/// What these ends do to a task that waited for them. `row.waits` says whether it waits for more.
/// Nothing where it still waits, or does not wait at all.
std::optional<TaskChange> after_end(std::span<const EndedTask> ended, const TaskRow& row,
                                    WallTime now);

/// An unfinished task waits for an operator from now on, because of what was found or done to its
/// store. A worker that has it is refused.
TaskChange hold(const TaskRow& row, std::string_view actor, const std::string& cause, WallTime now);

}  // namespace lifecycle

}  // namespace holdfast
