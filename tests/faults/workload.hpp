#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "faults/snapshot.hpp"
#include "support/manual_clock.hpp"
#include "support/temp_store.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {

/// One store and everything that is done to it.
class Workplace {
 public:
  explicit Workplace(Settings settings = {}) : settings_{settings} {}

  std::string database() const { return folder_.database(); }
  std::string folder() const { return folder_.folder(); }
  ManualClock& clock() { return clock_; }
  EngineParts& engine() { return *engine_; }
  Engine handle() const { return Engine{engine_}; }
  bool is_open() const { return engine_ != nullptr; }

  void open();
  /// Lets go of the engine. Workers are not the engine's: they live on.
  void close() { engine_.reset(); }

  // The shortest words for the steps below. Tasks have numbers, from which their ids are made, so
  // that every run has the same ones.
  static TaskId id(int number);
  static std::string payload_of(TaskId id);
  static NewTask task(int number, TaskOptions options = {});
  void insert(std::vector<NewTask> tasks);
  void enlist();
  void let_die() { workers_.pop_back(); }
  WorkerId worker() const { return workers_.back()->id(); }
  ClaimRequest claim(int limit) const;
  /// What the task is claimed under, as the store says: a caller that was not told has no other
  /// way to know.
  Lease lease(int number);
  void settle(Settlement settlement);
  /// What an operator does. A running task is asked to stop.
  void move(int number, TaskState from, TaskState to);

 private:
  TempStore folder_;
  ManualClock clock_;
  Settings settings_;
  std::shared_ptr<EngineParts> engine_;
  std::vector<std::unique_ptr<Enlistment>> workers_;
};

/// Something that is done to a store by one commit, and acknowledged when it returns. One that was
/// refused can be done again.
struct Step {
  std::string name;
  std::function<void(Workplace&)> act;
  bool in_portions = false;  ///< several commits: a failure may come after the first of them
};

/// Everything that a store can be asked to do, from its creation on.
const std::vector<Step>& workload();

/// What the store holds after so many steps of the workload when nothing goes wrong.
const Snapshot& state_after(std::size_t steps);

}  // namespace holdfast::test
