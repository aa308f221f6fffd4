#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include <holdfast/engine.hpp>

#include "tasks/engine_parts.hpp"

namespace holdfast {

struct MoveOptions {
  bool finished = false;    ///< completed and cancelled tasks, too
  Millis patience{60'000};  ///< for running tasks to end
  /// Asked when nothing can start any more and nothing was taken yet: why it cannot be moved.
  /// Empty: it can.
  std::function<std::string()> objection{};
  /// Called with tasks that the other store has from now on, while nobody can run them here or
  /// there: takes along what these have beside them. May be called again with the same.
  std::function<void(const std::vector<const TaskRecord*>& tasks)> take_along{};
};

struct MoveResult {
  std::int64_t moved = 0;     ///< unfinished tasks and dead letters that the other store has now
  std::int64_t finished = 0;  ///< completed and cancelled ones likewise
  std::int64_t schedules = 0;
  std::int64_t limits = 0;
  std::vector<TaskId> left{};  ///< their unique key, or that of one they wait for, is taken there
  Millis closed_for{0};        ///< from the end of enqueuing here to the first start there
};

/// Moves everything in one store to another one, whatever their engines.
///
/// Nothing runs in both: a task is first held in its store, then inserted into the other one, where
/// it waits for a task of the move's own (the gate), then removed from its store, and only then is
/// the gate opened. All of this can be repeated: whoever dies on the way, running the move again
/// goes on with it. Who enqueues can do so until the last pass; from then on he is told the new
/// address.
class StoreMove {
 public:
  using Say = std::function<void(const std::string& line)>;
  StoreMove(Engine from, Engine to, MoveOptions options, Say say);

  /// Throws `InvalidRequest` if these two stores cannot be the ones, `StoreError` if something is
  /// in the way: then it is to be run again.
  MoveResult run();

 private:
  void begin();
  void refuse_same_store();
  void reopen(const MoveNote& left);
  void heed_objection();
  void undo();
  void drain();
  void close();
  void pause_queues();
  std::int64_t running();
  void take_pending();
  void take_marked_before();
  void drop_outdated();
  void forget_copies(const std::vector<TaskId>& ids);
  void take_rest();
  void take_finished(TaskState state);
  void take_schedules();
  void take_limits();
  void check_counts();
  void forget_taken();
  void open_gates();
  bool open_some_gates(WorkerId worker);

  void mark(const std::vector<TaskId>& ids);
  void take(const std::vector<TaskId>& ids);
  void adopt(const std::vector<Parcel>& parcels);
  bool is_marked(const TaskRecord& task) const;
  void drop_completed(TaskRecord& task);
  bool all_there(const std::vector<TaskId>& ids);
  void prepare(Parcel& parcel, TaskId gate) const;
  TaskId make_gate();

  Engine from_engine_;
  Engine to_engine_;
  EngineParts& from_;
  EngineParts& to_;
  MoveOptions options_;
  Say say_;
  MoveNote note_{};
  bool goes_on_ = false;  // a run before has begun it
  MoveResult result_{};
  std::vector<TaskId> taken_;              // in the other store, to be removed from this one
  std::unordered_set<TaskId> unfinished_;  // of those, the ones that wait for a gate
  std::unordered_set<TaskId> there_;       // known to be in the other store
};

}  // namespace holdfast
