#include "engines/sqlite/counts.hpp"

#include <fmt/format.h>

#include "engines/sqlite/connection.hpp"

namespace holdfast::sqlite {

namespace {

/// What the tasks say, from the indexes, whose entries are narrow: rows have payloads.
#define HOLDFAST_COUNTED                                                                        \
  " (SELECT lane, {pending} AS state, count(*) AS tasks FROM holdfast_tasks INDEXED BY "        \
  "holdfast_ready"                                                                              \
  " WHERE state = {pending} GROUP BY lane UNION ALL SELECT lane, {running}, count(*) FROM "     \
  "holdfast_tasks"                                                                              \
  " INDEXED BY holdfast_running WHERE state = {running} GROUP BY lane UNION ALL SELECT lane, "  \
  "state,"                                                                                      \
  " count(*) FROM holdfast_tasks INDEXED BY holdfast_finished WHERE state BETWEEN {completed} " \
  "AND {cancelled}"                                                                             \
  " GROUP BY lane, state UNION ALL SELECT lane, state, count(*) FROM holdfast_tasks INDEXED BY" \
  " holdfast_waiting WHERE state IN ({blocked}, {held}) GROUP BY lane, state) "

}  // namespace

void CountChanges::write(Connection& db) {
  for (const auto& [of, tasks] : changes_) {
    if (tasks == 0) continue;
    db.use(
          "INSERT INTO holdfast_counts (lane, state, tasks) VALUES (?1, ?2, ?3)"
          " ON CONFLICT (lane, state) DO UPDATE SET tasks = tasks + ?3")
        .bind(of.first, of.second, tasks)
        .run();
  }
  changes_.clear();
}

void recount(Connection& db) {
  db.execute("DELETE FROM holdfast_counts");
  db.execute("INSERT INTO holdfast_counts (lane, state, tasks) SELECT * FROM" HOLDFAST_COUNTED);
}

void find_wrong_counts(Connection& db, const std::function<void(std::string)>& found) {
  // One statement, so that both are of the same moment.
  auto query = db.use(
      "SELECT lane, state, sum(kept), sum(counted) FROM (SELECT lane, state, tasks AS kept,"
      " 0 AS counted FROM holdfast_counts UNION ALL SELECT lane, state, 0, tasks"
      " FROM" HOLDFAST_COUNTED ") GROUP BY lane, state HAVING sum(kept) <> sum(counted)");
  while (query.step())
    found(fmt::format("Lane {} is said to have {} tasks in state {}, and has {}.", query.integer(0),
                      query.integer(2), query.integer(1), query.integer(3)));
}

}  // namespace holdfast::sqlite
