#pragma once

#include <span>
#include <vector>

#include "engines/sqlite/row_sum.hpp"
#include "engines/sqlite/store.hpp"
#include "recovery/backoff.hpp"
#include "tasks/task_store.hpp"

/// What every write of a worker must meet: the task is still claimed, and by this very claim. The
/// build without it exists to prove that the tests can see what it prevents.
#ifdef HOLDFAST_ABLATE_TOKEN_GUARD
#define HOLDFAST_TOKEN_GUARD " id = ?1 AND ?2 > 0 "
#define HOLDFAST_TOKEN_GUARD_OF_MANY " AND ?1 > 0 "
#else
#define HOLDFAST_TOKEN_GUARD " id = ?1 AND token = ?2 AND state = {running} "
/// The same, beside a list of tasks that were claimed together.
#define HOLDFAST_TOKEN_GUARD_OF_MANY " AND token = ?1 AND state = {running} "
#endif

/// The steps of the store, each inside a transaction that the caller has begun.
namespace holdfast::sqlite {

std::vector<Inserted> insert_tasks(Connection& db, std::span<const NewTask> tasks, WallTime now);

/// What a claim needs to know about now.
struct ClaimTime {
  WallTime wall{};
  Millis steady{};
  std::int64_t token_floor = 0;
};
/// `limited`: there are limits to keep to.
void claim_tasks(Connection& db, const ClaimRequest& request, const ClaimTime& now, bool limited,
                 Exchanged& into);
std::optional<WallTime> earliest_due(Connection& db, const ClaimRequest& request, WallTime now);

struct SettleResult {
  std::vector<Settled> settled{};   ///< one for each settlement
  bool woke_others = false;         ///< one of them made other tasks ready
  std::vector<TaskChanged> also{};  ///< see `Exchanged`
};
SettleResult settle_tasks(Connection& db, std::span<const Settlement> settlements, WallTime now);

void count_refused(Connection& db, std::int64_t refused);

/// The number of a lane, which is made if need be.
std::int64_t lane_of(Connection& db, const std::string& queue, const std::string& kind,
                     const std::string& key);
std::optional<TaskId> unfinished_with_key(Connection& db, const std::string& key);
std::optional<std::string> tags_text(const std::vector<std::string>& tags);

/// What the row of a new task will be, its payload sum left out.
SummedRow new_row(const NewTask& task, TaskId id, std::int64_t lane, WallTime now);
/// When a new task may run. Zero means ready from the beginning, whatever the wall clock does.
WallTime due(const TaskOptions& options, WallTime now);

}  // namespace holdfast::sqlite
