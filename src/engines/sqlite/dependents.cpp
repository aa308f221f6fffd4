#include <fmt/format.h>

#include "engines/sqlite/row_sum.hpp"
#include "engines/sqlite/store.hpp"

namespace holdfast::sqlite {

namespace {

std::vector<std::int64_t> dependents_of(Connection& db, std::int64_t seq) {
  std::vector<std::int64_t> found;
  auto query = db.use("SELECT seq FROM holdfast_blocks WHERE on_seq = ?");
  query.bind(seq);
  while (query.step()) found.push_back(query.integer(0));
  return found;
}

TaskId id_of(Connection& db, std::int64_t seq) {
  auto query = db.use("SELECT id FROM holdfast_tasks WHERE seq = ?");
  query.bind(seq);
  return query.step() ? query.task_id(0) : TaskId{};
}

/// A step of a task that waited for another, in its history, in the counts and for whoever wants to
/// hear of it.
TaskChanged note_step(Connection& db, const HistoryRow& row) {
  add_history(db, row);
  auto find = db.use(
      "SELECT t.id, l.kind, t.lane FROM holdfast_tasks t JOIN holdfast_lanes l USING (lane)"
      " WHERE t.seq = ?");
  TaskChanged changed;
  if (find.bind(row.task).step()) {
    changed.id = find.task_id(0);
    changed.kind = find.text(1);
    db.counts().move(find.integer(2), row.from, row.to);
  }
  changed.transition = {
      row.from,    row.to, std::string{row.actor}, std::string{row.reason}, row.token,
      row.attempt, row.at};
  return changed;
}

}  // namespace

void add_history(Connection& db, const HistoryRow& row) {
  auto insert = db.use(
      "INSERT INTO holdfast_history (task, n, from_state, to_state, actor, reason, token, attempt,"
      " claimed_at, worker, at) VALUES (?1, (SELECT coalesce(max(n), 0) + 1 FROM holdfast_history"
      " WHERE task = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
  insert.bind(row.task, row.from, row.to, row.actor, row.reason, row.token, row.attempt,
              row.claimed_at, row.worker, row.at);
  insert.run();
}

std::vector<TaskChanged> release_dependents(Connection& db, std::int64_t seq, WallTime now) {
  std::vector<TaskChanged> released;
  for (auto dependent : dependents_of(db, seq)) {
    db.use("DELETE FROM holdfast_blocks WHERE on_seq = ? AND seq = ?").bind(seq, dependent).run();
    auto release = db.use(
        "UPDATE holdfast_tasks SET state = 0 WHERE seq = ?1 AND state = 5"
        " AND NOT EXISTS (SELECT 1 FROM holdfast_blocks WHERE seq = ?1)");
    release.bind(dependent).run();
    if (db.changes() == 0) continue;
    seal(db, dependent);
    released.push_back(note_step(db, {.task = dependent,
                                      .from = TaskState::blocked,
                                      .to = TaskState::pending,
                                      .actor = "system/dependency",
                                      .reason = "Everything it waited for has completed.",
                                      .at = now}));
  }
  return released;
}

std::vector<TaskChanged> cancel_dependents(Connection& db, std::int64_t seq, WallTime now,
                                           std::string_view actor) {
  std::vector<TaskChanged> changed;
  std::vector<std::int64_t> cancelled{seq};
  for (std::size_t done = 0; done < cancelled.size(); ++done) {
    auto cause = cancelled[done];
    auto reason = fmt::format("waited for {}, which was cancelled", id_of(db, cause).text());
    for (auto dependent : dependents_of(db, cause)) {
      db.use("DELETE FROM holdfast_blocks WHERE on_seq = ? AND seq = ?")
          .bind(cause, dependent)
          .run();
      auto cancel = db.use(
          "UPDATE holdfast_tasks SET state = 4, finished_at = ?2, error = ?3, row_sum = 0"
          " WHERE seq = ?1 AND state = 5");
      cancel.bind(dependent, now, reason).run();
      if (db.changes() == 0) continue;
      changed.push_back(note_step(db, {.task = dependent,
                                       .from = TaskState::blocked,
                                       .to = TaskState::cancelled,
                                       .actor = actor,
                                       .reason = reason,
                                       .at = now}));
      cancelled.push_back(dependent);
    }
  }
  return changed;
}

}  // namespace holdfast::sqlite
