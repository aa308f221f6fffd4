#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <holdfast/events.hpp>

#include "engines/sqlite/connection.hpp"
#include "tasks/lifecycle.hpp"

namespace holdfast::sqlite {

/// A task and where it is.
struct FoundTask {
  std::int64_t seq = 0;
  std::int64_t lane = 0;
  std::string kind{};
  std::string unique_key{};
  int max_attempts = 0;
  TaskRow row{};  ///< `key_taken` is for who asks
};

/// The columns of a `FoundTask`, and the tables that they are in: `t` are tasks, `w` the worker
/// that claimed one last.
#define HOLDFAST_FOUND_TASK                                                                  \
  " t.seq, t.lane, l.kind, t.unique_key, t.max_attempts, t.id, t.state, t.token, t.attempt," \
  " t.crashes, t.suspect, t.cancel_requested, t.claimed_at, w.id,"                           \
  " EXISTS (SELECT 1 FROM holdfast_blocks b WHERE b.seq = t.seq) FROM holdfast_tasks t"      \
  " JOIN holdfast_lanes l ON l.lane = t.lane LEFT JOIN holdfast_workers w ON w.seq = t.owner "
FoundTask read_found(const Statement& row);
std::optional<FoundTask> find_task(Connection& db, std::int64_t seq);
std::optional<FoundTask> find_task(Connection& db, TaskId id);

/// Adds the same to the histories of tasks; of at most `RowList::longest`.
void add_history(Connection& db, std::span<const std::int64_t> places,
                 const RecordedTransition& entry);
inline void add_history(Connection& db, std::int64_t seq, const RecordedTransition& entry) {
  add_history(db, std::span{&seq, 1}, entry);
}

/// Writes the same change of tasks that were read in the same transaction (see `same_change`), with
/// their histories and the counts of their queues; at most `RowList::longest`.
void apply_change(Connection& db, std::span<const FoundTask> tasks, const TaskChange& change,
                  std::int64_t token_floor);
inline void apply_change(Connection& db, const FoundTask& task, const TaskChange& change,
                         std::int64_t token_floor) {
  apply_change(db, std::span{&task, 1}, change, token_floor);
}
/// What listeners are told of a change that has a history.
TaskChanged told(const FoundTask& task, const TaskChange& change);

/// What waited for a task that came to its end runs or is cancelled, too, and what waited for that,
/// and so on. Returns all of them.
std::vector<TaskChanged> end_dependents(Connection& db, std::int64_t seq, const EndedTask& ended,
                                        WallTime now);

}  // namespace holdfast::sqlite
