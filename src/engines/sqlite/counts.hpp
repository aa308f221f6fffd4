#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <holdfast/task.hpp>

/// How many tasks each lane has in each state. A row of holdfast_counts is as true as the tasks
/// themselves, because it is written in the same transaction; a batch that claims a thousand tasks
/// writes two rows.
namespace holdfast::sqlite {

class Connection;

/// By how much a transaction changes the counts. Whoever changes the state of a task says so here;
/// whoever commits writes it first.
class CountChanges {
 public:
  void add(std::int64_t lane, TaskState state, std::int64_t tasks = 1) {
    changes_[{lane, state}] += tasks;
  }
  void move(std::int64_t lane, TaskState from, TaskState to, std::int64_t tasks = 1) {
    add(lane, from, -tasks);
    add(lane, to, tasks);
  }
  /// In the transaction that the tasks were changed in.
  void write(Connection& db);
  /// That transaction was given up.
  void forget() { changes_.clear(); }

 private:
  std::map<std::pair<std::int64_t, TaskState>, std::int64_t> changes_;
};

/// Counts all tasks anew, where nobody can say what was changed.
void recount(Connection& db);

/// Calls `found` with a sentence for every count that is not what the tasks say.
void find_wrong_counts(Connection& db, const std::function<void(std::string)>& found);

}  // namespace holdfast::sqlite
