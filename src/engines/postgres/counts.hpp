#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <holdfast/task.hpp>

#include "engines/postgres/result.hpp"

/// How many tasks each queue has in each state; see schema_8.sql.
namespace holdfast::postgres {

class Connection;

/// By how much a transaction changes the counts. Whoever changes the state of a task says so here;
/// whoever commits writes it first.
class CountChanges {
 public:
  void add(const std::string& queue, TaskState state, std::int64_t tasks = 1) {
    changes_[{queue, state}] += tasks;
  }
  void move(const std::string& queue, TaskState from, TaskState to, std::int64_t tasks = 1) {
    add(queue, from, -tasks);
    add(queue, to, tasks);
  }
  /// Queues what is to be written in the transaction that the tasks were changed in; nothing if
  /// there is nothing.
  void queue(Connection& db);
  /// That transaction was given up.
  void forget() { changes_.clear(); }

 private:
  std::map<std::pair<std::string, TaskState>, std::int64_t> changes_;
};

/// Queue, state and number, of one moment; only what is not 0.
Rows read_counts(Connection& db);

/// Counts all tasks anew; everybody else waits meanwhile.
void recount(Connection& db);

/// Calls `found` with a sentence for every count that is not what the tasks say.
void find_wrong_counts(Connection& db, const std::function<void(std::string)>& found);

}  // namespace holdfast::postgres
