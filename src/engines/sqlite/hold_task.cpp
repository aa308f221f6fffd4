#include "engines/sqlite/hold_task.hpp"

#include "engines/sqlite/row_sum.hpp"
#include "engines/sqlite/store.hpp"

namespace holdfast::sqlite {

void hold_task(Connection& db, std::int64_t seq, TaskState from, std::string_view actor,
               const std::string& cause, WallTime now) {
  HistoryRow row{
      .task = seq, .from = from, .to = TaskState::held, .actor = actor, .reason = cause, .at = now};
  {
    auto find = db.use(
        "SELECT t.token, t.attempt, t.claimed_at, w.id, t.lane FROM holdfast_tasks t"
        " LEFT JOIN holdfast_workers w ON w.seq = t.owner WHERE t.seq = ?");
    if (!find.bind(seq).step()) return;
    row.token = Token{find.integer(0)};
    row.attempt = static_cast<int>(find.integer(1));
    db.counts().move(find.integer(4), from, TaskState::held);
    if (from == TaskState::running) {
      row.claimed_at = find.optional_time(2);
      if (!find.is_null(3)) row.worker = find.worker_id(3);
    }
  }
  auto token_floor = now.time_since_epoch().count() * 1000;
  db.use(
        "UPDATE holdfast_tasks SET state = 6, cause = ?2, token = max(token + 1, ?3),"
        " lease_until = NULL, finished_at = NULL, cancel_requested = 0 WHERE seq = ?1")
      .bind(seq, cause, token_floor)
      .run();
  seal(db, seq);
  add_history(db, row);
}

}  // namespace holdfast::sqlite
