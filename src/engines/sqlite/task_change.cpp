#include "engines/sqlite/task_change.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "engines/sqlite/handfuls.hpp"

namespace holdfast::sqlite {

namespace {

/// The row sum is made of what the row becomes; see row_sum.hpp.
const RowList change_sql{
    "UPDATE holdfast_tasks SET state = ?1, token = ?2, attempt = ?3, crashes = ?4,"
    " recoveries = recoveries + ?5, suspect = ?6, cancel_requested = ?7,"
    " run_at = coalesce(?8, run_at), finished_at = ?9, result = iif(?10, ?11, result),"
    " error = iif(?12, ?13, error), cause = iif(?14, ?15, cause),"
    " lease_until = iif(?16, lease_until, NULL), row_sum = iif(?9 IS NULL, holdfast_row_sum(id,"
    " lane, ?1, priority, coalesce(?8, run_at), ?2, ?3, recoveries + ?5, ?4, ?6, ?7, created_at,"
    " max_attempts, timeout, payload_sum), 0) WHERE seq IN (",
    ")"};

const RowList history_sql{
    "INSERT INTO holdfast_history (task, n, from_state, to_state, actor, reason, token, attempt,"
    " claimed_at, worker, at) SELECT seq, (SELECT coalesce(max(n), 0) + 1 FROM holdfast_history"
    " WHERE task = seq), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM holdfast_tasks WHERE seq IN (",
    ")"};

/// Takes a task from the list of those that wait for `on`.
std::vector<std::int64_t> take_dependents(Connection& db, std::int64_t on) {
  std::vector<std::int64_t> found;
  {
    auto query = db.use("SELECT seq FROM holdfast_blocks WHERE on_seq = ?");
    query.bind(on);
    while (query.step()) found.push_back(query.integer(0));
  }
  if (!found.empty()) db.use("DELETE FROM holdfast_blocks WHERE on_seq = ?").bind(on).run();
  return found;
}

}  // namespace

FoundTask read_found(const Statement& row) {
  FoundTask task{.seq = row.integer(0),
                 .lane = row.integer(1),
                 .kind = row.text(2),
                 .unique_key = row.text(3),
                 .max_attempts = static_cast<int>(row.integer(4))};
  task.row.id = row.task_id(5);
  task.row.state = static_cast<TaskState>(row.integer(6));
  task.row.token = Token{row.integer(7)};
  task.row.attempt = static_cast<int>(row.integer(8));
  task.row.crashes = static_cast<int>(row.integer(9));
  task.row.suspect = row.integer(10) != 0;
  task.row.cancel_requested = row.integer(11) != 0;
  task.row.claimed_at = row.optional_time(12);
  if (!row.is_null(13)) task.row.worker = row.worker_id(13);
  task.row.waits = row.integer(14) != 0;
  return task;
}

std::optional<FoundTask> find_task(Connection& db, std::int64_t seq) {
  auto find = db.use("SELECT" HOLDFAST_FOUND_TASK "WHERE t.seq = ?");
  if (!find.bind(seq).step()) return {};
  return read_found(find);
}

std::optional<FoundTask> find_task(Connection& db, TaskId id) {
  auto find = db.use("SELECT" HOLDFAST_FOUND_TASK "WHERE t.id = ?");
  if (!find.bind(id).step()) return {};
  return read_found(find);
}

void add_history(Connection& db, std::span<const std::int64_t> places,
                 const RecordedTransition& entry) {
  const auto& step = entry.transition;
  auto insert = db.use(history_sql.text(places.size()));
  insert.bind(step.from.value_or(TaskState::pending), step.to, step.actor, step.reason, step.token,
              step.attempt, entry.claimed_at, entry.worker, step.at);
  int at = 10;
  for (auto place : places) insert.bind_from(at++, place);
  insert.run();
}

void apply_change(Connection& db, std::span<const FoundTask> tasks, const TaskChange& change,
                  std::int64_t token_floor) {
  std::vector<std::int64_t> places;
  for (const auto& task : tasks) places.push_back(task.seq);
  const auto token = change.before.token.value;
  auto update = db.use(change_sql.text(places.size()));
  update.bind(change.to, change.new_token ? std::max(token + 1, token_floor) : token,
              change.attempt, change.crashes, change.recovered, change.suspect,
              change.cancel_requested, change.run_at, change.finished_at, change.result.changed,
              change.result.text, change.error.changed, change.error.text, change.cause.changed,
              change.cause.text, change.to == TaskState::running);
  int at = 17;
  for (auto place : places) update.bind_from(at++, place);
  update.run();
  for (const auto& task : tasks) {
    if (change.before.state != change.to)
      db.counts().move(task.lane, change.before.state, change.to);
    if (change.forget_progress)
      db.use("DELETE FROM holdfast_progress WHERE task = ?").bind(task.seq).run();
  }
  if (change.history) add_history(db, places, *change.history);
}

TaskChanged told(const FoundTask& task, const TaskChange& change) {
  return {change.before.id, task.kind, change.history.value().transition};
}

std::vector<TaskChanged> end_dependents(Connection& db, std::int64_t seq, const EndedTask& ended,
                                        WallTime now) {
  std::vector<TaskChanged> all;
  if (!lifecycle::reaches_dependents(ended.state)) return all;
  std::vector<std::pair<std::int64_t, EndedTask>> ends{{seq, ended}};
  for (std::size_t at = 0; at < ends.size(); ++at) {
    const auto [place, end] = ends[at];
    for (auto dependent : take_dependents(db, place)) {
      const auto task = find_task(db, dependent);
      if (!task) continue;
      const auto change = lifecycle::after_end(std::span{&end, 1}, task->row, now);
      if (!change) continue;
      apply_change(db, *task, *change, 0);
      all.push_back(told(*task, *change));
      if (lifecycle::reaches_dependents(change->to))
        ends.push_back({dependent, {task->row.id, change->to, end.actor}});
    }
  }
  return all;
}

}  // namespace holdfast::sqlite
