#include "engines/postgres/counts.hpp"

#include <random>

#include <fmt/format.h>

#include "engines/postgres/connection.hpp"

namespace holdfast::postgres {

namespace {

/// One of so many who write changes adds up what there is, so that there are never many. By chance:
/// some processes live for one write only.
constexpr unsigned writes_between_sums = 200;

bool is_to_add_up() {
  thread_local std::minstd_rand chance{std::random_device{}()};
  return chance() % writes_between_sums == 0;
}

#define HOLDFAST_KEPT                                                   \
  " (SELECT queue, state, tasks FROM hf.counts UNION ALL SELECT queue," \
  " state, tasks FROM hf.count_changes) "

}  // namespace

void CountChanges::queue(Connection& db) {
  Array queues{Type::text}, states{Type::bigint}, tasks{Type::bigint};
  for (const auto& [of, more] : changes_) {
    if (more == 0) continue;
    queues.add(of.first);
    states.add(of.second);
    tasks.add(more);
  }
  changes_.clear();
  if (queues.size() == 0) return;
  db.queue(
      "INSERT INTO hf.count_changes (queue, state, tasks)"
      " SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])",
      queues.value(), states.value(), tasks.value());
  if (!is_to_add_up()) return;
  // Who comes while another is at it leaves it to that one, and nobody waits.
  db.queue(
      "WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(hashtextextended("
      "'holdfast/counts/' || 'hf.counts'::regclass::oid, 0)) AS mine), gone AS (DELETE FROM"
      " hf.count_changes WHERE (SELECT mine FROM turn) RETURNING queue, state, tasks)"
      " INSERT INTO hf.counts AS c (queue, state, tasks) SELECT queue, state, sum(tasks) FROM gone"
      " GROUP BY queue, state ON CONFLICT (queue, state) DO UPDATE SET tasks = c.tasks +"
      " excluded.tasks");
}

Rows read_counts(Connection& db) {
  return db.run("SELECT queue, state, sum(tasks)::bigint FROM" HOLDFAST_KEPT
                "k GROUP BY queue, state HAVING sum(tasks) <> 0");
}

void recount(Connection& db) {
  db.queue("LOCK TABLE hf.tasks IN SHARE MODE");
  db.queue("LOCK TABLE hf.counts, hf.count_changes IN EXCLUSIVE MODE");
  db.queue("DELETE FROM hf.count_changes");
  db.queue("DELETE FROM hf.counts");
  db.run("INSERT INTO hf.counts SELECT queue, state, count(*) FROM hf.tasks GROUP BY queue, state");
}

void find_wrong_counts(Connection& db, const std::function<void(std::string)>& found) {
  // One statement, so that both are of the same moment.
  auto rows = db.run(
      "SELECT queue, state, sum(kept)::bigint, sum(counted)::bigint FROM (SELECT queue, state,"
      " tasks AS kept, 0 AS counted FROM" HOLDFAST_KEPT
      "k UNION ALL SELECT queue, state, 0, count(*) FROM hf.tasks GROUP BY queue, state) c"
      " GROUP BY queue, state HAVING sum(kept) <> sum(counted) LIMIT 100");
  while (rows.next())
    found(fmt::format("Queue {} is said to have {} {} tasks, and has {}.", rows.text(0),
                      rows.integer(2), to_string(rows.state(1)), rows.integer(3)));
}

}  // namespace holdfast::postgres
