#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/error.hpp>

#include "tasks/task_admin.hpp"

namespace holdfast {

/// A task on its way to another store, with all that belongs to it.
struct Parcel {
  TaskRecord task{};  ///< who held it last is of no use elsewhere, and is not adopted
  Backoff backoff{};
  std::vector<RecordedTransition> history{};
  std::vector<LogLine> logs{};
  std::vector<std::pair<std::string, std::string>> effects{};  ///< key and value
};

/// What a store knows of its being moved away.
struct MoveNote {
  std::string to;                     ///< name of the other store
  std::string move;                   ///< names this move: tasks that wait for its end know it
  std::vector<std::string> paused{};  ///< queues that were paused before it began
  bool closed = false;                ///< nothing may be inserted any more
  bool done = false;                  ///< the other store has everything
};
/// The cause of tasks that are held for a move.
std::string being_moved_to(std::string_view store);
bool is_being_moved(const TaskRecord& task);
std::string note_text(const MoveNote& note);
/// Nothing for a text that is not one of ours.
std::optional<MoveNote> parse_note(std::string_view text);
[[noreturn]] void refuse_because_moved(std::string_view store, std::string_view to);

enum class Adopted {
  created,
  there,      ///< a task of this id was there, and is as it was
  key_taken,  ///< another unfinished task has its unique key; nothing was written
};

/// What is needed to take tasks from one store to another, whatever engines these are. `StoreMove`
/// uses it.
class TaskTransfer {
 public:
  virtual ~TaskTransfer() = default;

  /// See the function of this name.
  std::string store_id();

  virtual std::optional<MoveNote> note() = 0;
  /// Once a closed note is written, `TaskStore::insert` throws `StoreMoved`, and so does
  /// `ScheduleStore::apply` if there are tasks to insert. Follow-ups of running tasks are inserted.
  virtual void set_note(const std::optional<MoveNote>& note) = 0;

  /// Tasks as they are, in the order of `ids`; those that are not in the store are left
  /// out.
  virtual std::vector<Parcel> pack(std::span<const TaskId> ids) = 0;
  /// Inserts all or none, under the same ids. What has unfinished tasks to wait for is blocked, a
  /// blocked one without is pending, and other states are kept. Throws `InvalidRequest` if a task
  /// that is waited for is neither in the store nor before it in the list.
  virtual std::vector<Adopted> adopt(std::span<const Parcel> parcels) = 0;
  /// Removes tasks that are held or finished, and returns how many. One that has only just
  /// completed may have to stay until all who wait for it have heard of it; then try again.
  virtual std::int64_t forget(std::span<const TaskId> ids) = 0;

 protected:
  /// The id that the store has, or `id` if it has none, which is then its own.
  virtual std::string keep_store_id(const std::string& id) = 0;

 private:
  std::mutex mutex_;  // guards the one below
  std::string store_id_;
};

}  // namespace holdfast
