#include <algorithm>

#include <fmt/format.h>

#include "engines/postgres/statements.hpp"
#include "engines/postgres/store.hpp"

namespace holdfast::postgres {

namespace {

/// Locked, so that of several who end what one task waits for each sees what the others did: the
/// last of them must know that it is the last.
std::vector<TaskId> lock_dependents(Connection& db, std::span<const TaskId> ended) {
  auto rows = db.run(
      "SELECT id FROM hf.tasks WHERE id IN (SELECT task FROM hf.blocks WHERE on_task = ANY($1))"
      " ORDER BY id FOR UPDATE",
      ended);
  std::vector<TaskId> ids;
  while (rows.next()) ids.push_back(rows.task_id(0));
  return ids;
}

}  // namespace

std::vector<TaskChanged> release_dependents(Connection& db, std::span<const TaskId> completed) {
  constexpr std::string_view actor = "system/dependency";
  constexpr std::string_view reason = "Everything it waited for has completed.";
  auto dependents = lock_dependents(db, completed);
  db.queue("DELETE FROM hf.blocks WHERE on_task = ANY($1)", completed);
  auto rows = db.run(
      "UPDATE hf.tasks t SET state = 0 WHERE id = ANY($1) AND state = 5"
      " AND NOT EXISTS (SELECT 1 FROM hf.blocks b WHERE b.task = t.id)"
      " RETURNING id, kind, {wall}, queue",
      dependents);
  std::vector<TaskChanged> released;
  HistoryRows history;
  while (rows.next()) {
    Transition step{
        TaskState::blocked, TaskState::pending, std::string{actor}, std::string{reason}, {}, 0,
        rows.time(2)};
    db.counts().move(rows.text(3), TaskState::blocked, TaskState::pending);
    released.push_back({rows.task_id(0), rows.text(1), std::move(step)});
    history.add({.task = rows.task_id(0),
                 .from = TaskState::blocked,
                 .to = TaskState::pending,
                 .actor = actor,
                 .reason = reason});
  }
  history.queue(db);
  return released;
}

std::vector<TaskChanged> cancel_dependents(Connection& db, std::span<const TaskId> cancelled,
                                           std::string_view actor) {
  std::vector<TaskChanged> all;
  std::vector<TaskId> causes{cancelled.begin(), cancelled.end()};
  for (std::size_t done = 0; done < causes.size(); ++done) {
    std::vector<TaskId> cause{causes[done]};
    auto dependents = lock_dependents(db, cause);
    if (dependents.empty()) continue;
    auto reason = fmt::format("waited for {}, which was cancelled", cause[0].text());
    db.queue("DELETE FROM hf.blocks WHERE on_task = ANY($1)", cause);
    auto rows = db.run(
        "UPDATE hf.tasks SET state = 4, finished_at = {wall}, error = $2 WHERE id = ANY($1)"
        " AND state = 5 RETURNING id, kind, finished_at, queue",
        dependents, reason);
    HistoryRows history;
    while (rows.next()) {
      auto id = rows.task_id(0);
      Transition step{TaskState::blocked, TaskState::cancelled, std::string{actor}, reason, {}, 0,
                      rows.time(2)};
      db.counts().move(rows.text(3), TaskState::blocked, TaskState::cancelled);
      all.push_back({id, rows.text(1), std::move(step)});
      causes.push_back(id);
      history.add({.task = id,
                   .from = TaskState::blocked,
                   .to = TaskState::cancelled,
                   .actor = actor,
                   .reason = reason});
    }
    history.queue(db);
  }
  return all;
}

}  // namespace holdfast::postgres
