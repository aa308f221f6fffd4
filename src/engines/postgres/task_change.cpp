#include "engines/postgres/task_change.hpp"

#include <map>
#include <utility>

namespace holdfast::postgres {

namespace {

/// Takes these from the lists of what others wait for; to each that waited, which ended. Locked, so
/// that of several that end what one task waits for each sees what the others did: the last of them
/// must know that it is the last.
std::map<TaskId, std::vector<TaskId>> take_dependents(Connection& db,
                                                      const std::vector<TaskId>& ended) {
  std::map<TaskId, std::vector<TaskId>> found;
  auto locked = db.run(
      "SELECT id FROM hf.tasks WHERE id IN (SELECT task FROM hf.blocks WHERE on_task = ANY($1))"
      " ORDER BY id FOR UPDATE",
      ended);
  if (locked.count() == 0) return found;
  auto taken =
      db.run("DELETE FROM hf.blocks WHERE on_task = ANY($1) RETURNING task, on_task", ended);
  while (taken.next()) found[taken.task_id(0)].push_back(taken.task_id(1));
  return found;
}

}  // namespace

FoundTask read_found(const Rows& row, int first_column) {
  const int at = first_column;
  FoundTask task;
  task.row = {.id = row.task_id(at),
              .state = row.state(at + 1),
              .token = Token{row.integer(at + 2)},
              .attempt = row.small(at + 3),
              .crashes = row.small(at + 4),
              .suspect = row.yes(at + 5),
              .cancel_requested = row.yes(at + 6),
              .waits = row.yes(at + 14),
              .claimed_at = row.optional_time(at + 7),
              .worker = row.optional_worker(at + 8)};
  task.kind = row.text(at + 9);
  task.queue = row.text(at + 10);
  if (!row.is_null(at + 11)) task.unique_key = row.text(at + 11);
  task.max_attempts = row.small(at + 12);
  task.now = row.time(at + 13);
  return task;
}

void HistoryRows::add(TaskId task, const RecordedTransition& entry) {
  const auto& step = entry.transition;
  tasks_.add(task);
  from_.add(step.from.value_or(TaskState::pending));
  to_.add(step.to);
  actors_.add(step.actor);
  reasons_.add(step.reason);
  tokens_.add(step.token);
  attempts_.add(step.attempt);
  claimed_.add(entry.claimed_at);
  workers_.add(entry.worker);
  at_.add(step.at);
}

void HistoryRows::queue(Connection& db) const {
  if (tasks_.size() == 0) return;
  db.queue(
      "INSERT INTO hf.history (task, from_state, to_state, actor, reason, token, attempt,"
      " claimed_at, worker, at) SELECT * FROM unnest($1::uuid[], $2::bigint[],"
      " $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],"
      " $9::uuid[], $10::bigint[])",
      tasks_.value(), from_.value(), to_.value(), actors_.value(), reasons_.value(),
      tokens_.value(), attempts_.value(), claimed_.value(), workers_.value(), at_.value());
}

void TaskChanges::add(Connection& db, const FoundTask& task, const TaskChange& change) {
  const auto id = change.before.id;
  ids_.add(id);
  to_.add(change.to);
  keep_leases_.add(change.to == TaskState::running);
  new_tokens_.add(change.new_token);
  attempts_.add(change.attempt);
  crashes_.add(change.crashes);
  recovered_.add(change.recovered);
  suspects_.add(change.suspect);
  stops_.add(change.cancel_requested);
  run_at_.add(change.run_at);
  finished_at_.add(change.finished_at);
  set_results_.add(change.result.changed);
  results_.add(change.result.text);
  set_errors_.add(change.error.changed);
  errors_.add(change.error.text);
  set_causes_.add(change.cause.changed);
  causes_.add(change.cause.text);
  if (change.forget_progress) without_progress_.push_back(id);
  if (change.history) history_.add(id, *change.history);
  if (change.before.state != change.to)
    db.counts().move(task.queue, change.before.state, change.to);
}

void TaskChanges::queue(Connection& db) const {
  if (ids_.size() == 0) return;
  db.queue(
      "UPDATE hf.tasks t SET state = c.to_state,"
      " token = CASE WHEN c.new_token THEN greatest(t.token + 1, {micros}) ELSE t.token END,"
      " attempt = c.attempt, crashes = c.crashes, recoveries = t.recoveries + c.recovered::int,"
      " suspect = c.suspect, cancel_requested = c.stops, run_at = coalesce(c.run_at, t.run_at),"
      " finished_at = c.finished_at, result = CASE WHEN c.set_result THEN c.result ELSE t.result"
      " END, error = CASE WHEN c.set_error THEN c.error ELSE t.error END,"
      " cause = CASE WHEN c.set_cause THEN c.cause ELSE t.cause END,"
      " lease_until = CASE WHEN c.keep_lease THEN t.lease_until END"
      " FROM unnest($1::uuid[], $2::bigint[], $3::boolean[], $4::boolean[], $5::bigint[],"
      " $6::bigint[], $7::boolean[], $8::boolean[], $9::boolean[], $10::bigint[], $11::bigint[],"
      " $12::boolean[], $13::text[], $14::boolean[], $15::text[], $16::boolean[], $17::text[])"
      " AS c(id, to_state, keep_lease, new_token, attempt, crashes, recovered, suspect, stops,"
      " run_at, finished_at, set_result, result, set_error, error, set_cause, cause)"
      " WHERE t.id = c.id",
      ids_.value(), to_.value(), keep_leases_.value(), new_tokens_.value(), attempts_.value(),
      crashes_.value(), recovered_.value(), suspects_.value(), stops_.value(), run_at_.value(),
      finished_at_.value(), set_results_.value(), results_.value(), set_errors_.value(),
      errors_.value(), set_causes_.value(), causes_.value());
  if (!without_progress_.empty())
    db.queue("DELETE FROM hf.progress WHERE task = ANY($1)", without_progress_);
  history_.queue(db);
}

TaskChanged told(const FoundTask& task, const TaskChange& change) {
  return {change.before.id, task.kind, change.history.value().transition};
}

std::vector<TaskChanged> end_dependents(Connection& db, std::vector<EndedTask> ended) {
  std::vector<TaskChanged> all;
  std::erase_if(ended, [](const auto& one) { return !lifecycle::reaches_dependents(one.state); });
  while (!ended.empty()) {
    std::vector<TaskId> ids, waited;
    std::map<TaskId, EndedTask> ends;
    for (const auto& one : ended) {
      ids.push_back(one.id);
      ends.emplace(one.id, one);
    }
    ended.clear();
    const auto dependents = take_dependents(db, ids);
    if (dependents.empty()) break;
    for (const auto& [id, on] : dependents) waited.push_back(id);
    auto rows = db.run("SELECT" HOLDFAST_FOUND_TASK "FROM hf.tasks t WHERE t.id = ANY($1)", waited);
    TaskChanges changes;
    while (rows.next()) {
      const auto task = read_found(rows);
      std::vector<EndedTask> waited_for;
      for (auto id : dependents.at(task.row.id)) waited_for.push_back(ends.at(id));
      const auto change = lifecycle::after_end(waited_for, task.row, task.now);
      if (!change) continue;
      changes.add(db, task, *change);
      all.push_back(told(task, *change));
      if (lifecycle::reaches_dependents(change->to))
        ended.push_back({task.row.id, change->to, waited_for.front().actor});
    }
    changes.queue(db);
  }
  return all;
}

}  // namespace holdfast::postgres
