#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/events.hpp>

#include "engines/postgres/connection.hpp"
#include "tasks/lifecycle.hpp"

namespace holdfast::postgres {

/// A task that was read; locked where it is to be changed.
struct FoundTask {
  TaskRow row{};  ///< `key_taken` is for who asks
  std::string kind{};
  std::string queue{};
  std::string unique_key{};
  int max_attempts = 0;
  WallTime now{};  ///< on the server's clock
};

/// The columns of a `FoundTask`, of the table `t`.
#define HOLDFAST_FOUND_TASK                                                                     \
  " t.id, t.state, t.token, t.attempt, t.crashes, t.suspect, t.cancel_requested, t.claimed_at," \
  " t.owner, t.kind, t.queue, t.unique_key, t.max_attempts, {wall},"                            \
  " EXISTS (SELECT 1 FROM hf.blocks b WHERE b.task = t.id) "
inline constexpr int found_columns = 15;
FoundTask read_found(const Rows& row, int first_column = 0);

/// Entries for the histories of tasks, written together.
class HistoryRows {
 public:
  void add(TaskId task, const RecordedTransition& entry);
  /// Queues one statement for all of them; none if there are none.
  void queue(Connection& db) const;

 private:
  Array tasks_{Type::uuid}, from_{Type::bigint}, to_{Type::bigint}, actors_{Type::text},
      reasons_{Type::text}, tokens_{Type::bigint}, attempts_{Type::bigint}, claimed_{Type::bigint},
      workers_{Type::uuid}, at_{Type::bigint};
};

/// Changes of tasks that were read and locked in the same transaction, written together with their
/// histories and the counts of their queues.
class TaskChanges {
 public:
  void add(Connection& db, const FoundTask& task, const TaskChange& change);
  /// Queues what writes them; nothing if there are none.
  void queue(Connection& db) const;

 private:
  Array ids_{Type::uuid}, to_{Type::bigint}, keep_leases_{Type::boolean},
      new_tokens_{Type::boolean}, attempts_{Type::bigint}, crashes_{Type::bigint},
      recovered_{Type::boolean}, suspects_{Type::boolean}, stops_{Type::boolean},
      run_at_{Type::bigint}, finished_at_{Type::bigint}, set_results_{Type::boolean},
      results_{Type::text}, set_errors_{Type::boolean}, errors_{Type::text},
      set_causes_{Type::boolean}, causes_{Type::text};
  std::vector<TaskId> without_progress_{};
  HistoryRows history_{};
};

/// What listeners are told of a change that has a history.
TaskChanged told(const FoundTask& task, const TaskChange& change);

/// What waited for these tasks runs or is cancelled, too, and what waited for that, and so on.
/// Returns all of them.
std::vector<TaskChanged> end_dependents(Connection& db, std::vector<EndedTask> ended);

}  // namespace holdfast::postgres
