#include <algorithm>
#include <array>

#include "engines/postgres/statements.hpp"
#include "engines/postgres/task_admin.hpp"
#include "tasks/transitions.hpp"

namespace holdfast::postgres {

namespace {

/// Of the advisory lock that only one who removes has, beside the schema's.
constexpr const char* prune_lock =
    "SELECT pg_try_advisory_xact_lock(hashtextextended('holdfast/prune/' || $1, 0))";

/// What others still wait for is kept: a dead letter that is redriven releases them.
#define HOLDFAST_NOT_WAITED_FOR                                                                    \
  " NOT EXISTS (SELECT 1 FROM hf.blocks b JOIN hf.tasks d ON d.id = b.task WHERE b.on_task = t.id" \
  " AND d.state IN ({blocked}, {held})) "

std::vector<TaskId> read_ids(Rows rows) {
  std::vector<TaskId> ids;
  while (rows.next()) ids.push_back(rows.task_id(0));
  return ids;
}

std::vector<TaskId> too_old(Connection& db, const Settings::Retention& retention, int limit) {
  return read_ids(
      db.run("(SELECT t.id FROM hf.tasks t WHERE t.state IN {finished} AND t.state = {completed}"
             " AND t.finished_at < {wall} - $1 AND" HOLDFAST_NOT_WAITED_FOR
             "ORDER BY t.finished_at LIMIT $3) UNION ALL"
             " (SELECT t.id FROM hf.tasks t WHERE t.state IN {finished} AND t.state = {cancelled}"
             " AND t.finished_at < {wall} - $1 AND" HOLDFAST_NOT_WAITED_FOR
             "ORDER BY t.finished_at LIMIT $3) UNION ALL"
             " (SELECT t.id FROM hf.tasks t WHERE t.state IN {finished} AND t.state = {failed}"
             " AND t.finished_at < {wall} - $2 AND" HOLDFAST_NOT_WAITED_FOR
             "ORDER BY t.finished_at LIMIT $3) LIMIT $3",
             std::chrono::duration_cast<Millis>(retention.completed),
             std::chrono::duration_cast<Millis>(retention.failed), limit));
}

/// Dead letters go last, because somebody may still want to redrive them.
std::vector<TaskId> oldest(Connection& db, std::int64_t limit) {
  return read_ids(db.run(
      "SELECT o.id FROM unnest(ARRAY[2, 3, 4]) AS s(state) CROSS JOIN LATERAL (SELECT t.id,"
      " t.finished_at FROM hf.tasks t WHERE t.state IN {finished} AND t.state = s.state"
      " AND" HOLDFAST_NOT_WAITED_FOR
      "ORDER BY t.finished_at LIMIT $1) o ORDER BY s.state = {failed}, o.finished_at LIMIT $1",
      limit));
}

std::int64_t first_number(Connection& db, const char* sql) {
  auto row = db.run(sql);
  return row.next() ? row.integer(0) : 0;
}

struct Counts {
  std::int64_t all = 0;
  std::int64_t finished = 0;
};

Counts kept_counts(Connection& db) {
  Counts counts;
  for (auto rows = read_counts(db); rows.next();) {
    counts.all += rows.integer(2);
    if (is_finished(rows.state(1))) counts.finished += rows.integer(2);
  }
  return counts;
}

/// What the tasks take, roughly. The size of the files says nothing: they do not shrink.
bool too_large(Connection& db, std::int64_t tasks, std::int64_t most) {
  if (most <= 0) return false;
  constexpr std::int64_t besides = 200;  // entries in indexes
  auto row = first_number(db,
                          "SELECT coalesce(avg(pg_column_size(t.*)), 0)::bigint FROM (SELECT * FROM"
                          " hf.tasks LIMIT 1000) t");
  return tasks * (row + besides) > most;
}

}  // namespace

std::int64_t remove_tasks(Connection& db, const std::vector<TaskId>& ids) {
  if (ids.empty()) return 0;
  static constexpr std::array statements = {
      "DELETE FROM hf.history WHERE task = ANY($1)",
      "DELETE FROM hf.log WHERE task = ANY($1)",
      "DELETE FROM hf.effects WHERE task = ANY($1)",
      "DELETE FROM hf.progress WHERE task = ANY($1)",
      "DELETE FROM hf.transactions WHERE task = ANY($1)",
      "DELETE FROM hf.moves WHERE task = ANY($1)",
      "DELETE FROM hf.ledger WHERE task = ANY($1)",
      "DELETE FROM hf.outbox WHERE task = ANY($1)",
      "DELETE FROM hf.blocks WHERE on_task = ANY($1)",
      "DELETE FROM hf.blocks WHERE task = ANY($1)",
  };
  for (const char* sql : statements) db.queue(sql, ids);
  auto removed = db.run(
      "DELETE FROM hf.tasks WHERE id = ANY($1) AND state IN ({completed}, {failed}, {cancelled}, "
      "{held}) RETURNING queue, state",
      ids);
  while (removed.next()) db.counts().add(removed.text(0), removed.state(1), -1);
  return removed.count();
}

TaskAdmin::Pruned PostgresTaskAdmin::prune(const Settings::Retention& retention, int limit) {
  struct Want {
    bool old = false;
    std::int64_t excess = 0;
    bool too_large = false;
  };
  auto want = store_.reader.read([&](Connection& db) {
    auto counts = kept_counts(db);
    return Want{!too_old(db, retention, 1).empty(),
                std::max<std::int64_t>(counts.finished - retention.max_finished, 0),
                too_large(db, counts.all, retention.max_bytes)};
  });
  if (!want.old && want.excess == 0 && !want.too_large) return {};
  auto removed = store_.writer.write(
      {KillPoint::prune_before_commit, KillPoint::prune_after_commit},
      [&](Connection& db) -> std::int64_t {
        // Several workers find the same to be removed at the same time; one of them is enough.
        auto alone = db.run(prune_lock, store_.dialect->address().schema);
        if (!alone.next() || !alone.yes(0)) return 0;
        std::vector<TaskId> chosen;
        if (want.too_large || want.excess > 0)
          chosen = oldest(db, want.too_large ? limit : std::min<std::int64_t>(want.excess, limit));
        if (chosen.empty() && want.old) chosen = too_old(db, retention, limit);
        return remove_tasks(db, chosen);
      });
  return {removed, removed > 0 && (want.excess > removed || want.too_large)};
}

}  // namespace holdfast::postgres
