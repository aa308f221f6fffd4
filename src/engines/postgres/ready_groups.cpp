#include "engines/postgres/ready_groups.hpp"

#include <algorithm>
#include <iterator>

#include "engines/postgres/limits.hpp"
#include "engines/postgres/statements.hpp"

namespace holdfast::postgres {

namespace {

/// Jumps through the index from one group of ready tasks to the next, so that the number of tasks
/// in groups that are not wanted costs nothing. Of each group comes the first task, in the order of
/// the index: whoever wants it need not look for it again, past the dead entries of all who were
/// claimed since the last vacuum.
#define HOLDFAST_FIRST " priority, queue, kind, keyed, suspect, run_at, seq "
#define HOLDFAST_GROUPS                                                                  \
  "WITH RECURSIVE g AS ((SELECT" HOLDFAST_FIRST                                          \
  "FROM hf.tasks WHERE state = {pending} ORDER BY" HOLDFAST_FIRST                        \
  "LIMIT 1) UNION ALL"                                                                   \
  " SELECT n.* FROM g CROSS JOIN LATERAL (SELECT" HOLDFAST_FIRST                         \
  "FROM hf.tasks t WHERE t.state = {pending}"                                            \
  " AND (t.priority, t.queue, t.kind, t.keyed) > (g.priority, g.queue, g.kind, g.keyed)" \
  " ORDER BY" HOLDFAST_FIRST "LIMIT 1) n) "

/// Of these, the ones that may be claimed from. $1 kinds, $2 whether all queues, $3 queues.
#define HOLDFAST_OPEN_GROUPS                                                    \
  HOLDFAST_GROUPS                                                               \
  ", open AS (SELECT * FROM g WHERE kind = ANY($1) AND ($2 OR queue = ANY($3))" \
  " AND NOT EXISTS (SELECT 1 FROM hf.paused p WHERE p.queue = g.queue)) "

#define HOLDFAST_LIMITED                                                                \
  " EXISTS (SELECT 1 FROM hf.limits l WHERE (l.scope = 0 AND l.name IN (o.queue, '*'))" \
  " OR (l.scope = 1 AND l.name IN (o.kind, '*')) OR (l.scope = 2 AND o.keyed)) "

#define HOLDFAST_KEYS_ARE_LIMITED " EXISTS (SELECT 1 FROM hf.limits WHERE scope = 2) "

/// The tasks of a group in the index that has those of all keys together.
#define HOLDFAST_OF_GROUP                                                                       \
  " t.state = {pending} AND t.priority = o.priority AND t.queue = o.queue AND t.kind = o.kind " \
  "AND t.keyed = o.keyed "
/// The same in the index that has them by key; see schema_2.sql.
#define HOLDFAST_KEYED                                                                             \
  " t.state < {running} AND t.keyed AND t.priority = o.priority AND t.queue = o.queue AND t.kind " \
  "= "                                                                                             \
  "o.kind "
#define HOLDFAST_OF_KEY HOLDFAST_KEYED "AND t.limit_key = k.limit_key "

/// Not EXISTS: for that the planner may read all ready tasks once and look each group up in them.
#define HOLDFAST_SOME(tasks, which) \
  " coalesce((SELECT true FROM hf.tasks t WHERE" tasks which " LIMIT 1), false)"
#define HOLDFAST_DUE_AND_SUSPECTS(tasks)                                                \
  HOLDFAST_SOME(tasks, "AND t.suspect = false AND t.run_at > 0 AND t.run_at <= {wall}") \
  "," HOLDFAST_SOME(tasks, "AND t.suspect = true AND t.run_at <= {wall}") " "
/// The first of those that are ready from the beginning, or NULL; whether others are due.
#define HOLDFAST_READY_OF_GROUP                                                          \
  " CASE WHEN NOT o.suspect AND o.run_at = 0 THEN o.seq END," HOLDFAST_DUE_AND_SUSPECTS( \
      HOLDFAST_OF_GROUP)
#define HOLDFAST_READY_OF_KEY                                                                  \
  " (SELECT t.seq FROM hf.tasks t WHERE" HOLDFAST_OF_KEY                                       \
  "AND t.suspect = false AND t.run_at = 0 ORDER BY t.seq LIMIT 1)," HOLDFAST_DUE_AND_SUSPECTS( \
      HOLDFAST_OF_KEY)

#define HOLDFAST_EARLIEST(first, tasks)                            \
  " least(" first ", (SELECT t.run_at FROM hf.tasks t WHERE" tasks \
  "AND t.suspect = true ORDER BY t.run_at LIMIT 1)) "
/// Those that need not run alone come first.
#define HOLDFAST_EARLIEST_OF_GROUP \
  HOLDFAST_EARLIEST(" CASE WHEN NOT o.suspect THEN o.run_at END ", HOLDFAST_OF_GROUP)
#define HOLDFAST_EARLIEST_OF_KEY                                             \
  HOLDFAST_EARLIEST("(SELECT t.run_at FROM hf.tasks t WHERE" HOLDFAST_OF_KEY \
                    "AND t.suspect = false ORDER BY t.run_at LIMIT 1)",      \
                    HOLDFAST_OF_KEY)

#define HOLDFAST_GROUP " o.priority, o.queue, o.kind, o.keyed," HOLDFAST_LIMITED ","

#define HOLDFAST_KEYS_OF_GROUP                                                      \
  " (WITH RECURSIVE k AS ((SELECT t.limit_key FROM hf.tasks t WHERE" HOLDFAST_KEYED \
  "ORDER BY t.limit_key LIMIT 1) UNION ALL SELECT"                                  \
  " (SELECT t.limit_key FROM hf.tasks t WHERE" HOLDFAST_KEYED                       \
  "AND t.limit_key > k.limit_key ORDER BY t.limit_key LIMIT 1)"                     \
  " FROM k WHERE k.limit_key IS NOT NULL)"                                          \
  " SELECT k.limit_key FROM k WHERE k.limit_key IS NOT NULL) k "

}  // namespace

void queue_groups(Connection& db, const ClaimRequest& request) {
  db.queue(HOLDFAST_OPEN_GROUPS "SELECT" HOLDFAST_GROUP HOLDFAST_READY_OF_GROUP
                                "FROM open o ORDER BY o.priority",
           request.kinds, request.queues.empty(), request.queues);
}

void queue_groups_by_key(Connection& db, const ClaimRequest& request) {
  db.queue(HOLDFAST_OPEN_GROUPS "SELECT" HOLDFAST_GROUP HOLDFAST_READY_OF_GROUP
                                ", ''," HOLDFAST_EARLIEST_OF_GROUP
                                "FROM open o WHERE NOT (o.keyed AND" HOLDFAST_KEYS_ARE_LIMITED ")",
           request.kinds, request.queues.empty(), request.queues);
  db.queue(HOLDFAST_OPEN_GROUPS "SELECT" HOLDFAST_GROUP HOLDFAST_READY_OF_KEY
                                ", k.limit_key," HOLDFAST_EARLIEST_OF_KEY
                                "FROM open o CROSS JOIN LATERAL" HOLDFAST_KEYS_OF_GROUP
                                "WHERE o.keyed AND" HOLDFAST_KEYS_ARE_LIMITED,
           request.kinds, request.queues.empty(), request.queues);
}

std::vector<ReadyGroup> read_groups(Rows rows) {
  std::vector<ReadyGroup> groups;
  while (rows.next()) {
    std::optional<std::int64_t> fresh;
    if (!rows.is_null(5)) fresh = rows.integer(5);
    groups.push_back({rows.small(0), rows.text(1), rows.text(2), rows.yes(3), rows.yes(4), fresh,
                      rows.yes(6), rows.yes(7)});
    if (rows.columns() == 8) continue;
    groups.back().key = rows.text(8);
    groups.back().earliest = rows.time(9);
  }
  return groups;
}

std::vector<ReadyGroup> read_groups_by_key(Rows without, Rows with_keys) {
  auto groups = read_groups(std::move(without));
  std::ranges::move(read_groups(std::move(with_keys)), std::back_inserter(groups));
  std::ranges::stable_sort(groups, {}, &ReadyGroup::priority);
  return groups;
}

/// In each group the oldest of those that were ready from the beginning, and the first of those
/// that had to wait.
Rows oldest_ready(Connection& db) {
  return db.run(
      HOLDFAST_GROUPS
      "SELECT o.queue, min(least((SELECT t.created_at FROM hf.tasks t WHERE" HOLDFAST_OF_GROUP
      "AND t.suspect = s.suspect AND t.run_at = 0 ORDER BY t.seq LIMIT 1),"
      " (SELECT t.run_at FROM hf.tasks t WHERE" HOLDFAST_OF_GROUP
      "AND t.suspect = s.suspect AND t.run_at > 0 AND t.run_at <= {wall}"
      " ORDER BY t.run_at LIMIT 1)))"
      " FROM g o CROSS JOIN (VALUES (false), (true)) AS s (suspect) GROUP BY o.queue");
}

std::optional<WallTime> earliest_due(Connection& db, const ClaimRequest& request) {
  auto row =
      db.run(HOLDFAST_OPEN_GROUPS "SELECT min(" HOLDFAST_EARLIEST_OF_GROUP
                                  "), coalesce(bool_or(" HOLDFAST_LIMITED "), false) FROM open o",
             request.kinds, request.queues.empty(), request.queues);
  if (!row.next()) return {};
  if (!row.yes(1)) return row.optional_time(0);
  queue_allowance(db);
  queue_groups_by_key(db, request);
  auto results = db.collect();
  auto groups = read_groups_by_key(std::move(results[2]), std::move(results[3]));
  auto limits = read_allowance(db, std::move(results[0]), std::move(results[1]), groups);
  std::optional<WallTime> earliest;
  for (const auto& group : groups) {
    std::optional<WallTime> not_before = WallTime{};
    if (limits.room(group.names(), 1) == 0) not_before = limits.room_at(group.names());
    if (!not_before) continue;
    auto due = std::max(group.earliest, *not_before);
    earliest = earliest ? std::min(*earliest, due) : due;
  }
  return earliest;
}

}  // namespace holdfast::postgres
