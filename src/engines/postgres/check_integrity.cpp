#include "engines/postgres/check_integrity.hpp"

#include <chrono>

#include <fmt/format.h>

namespace holdfast::postgres {

namespace {

/// What must never be there: a task that nobody will ever move on.
struct Rule {
  const char* find;  ///< selects ids of tasks that break it
  const char* what;
};
constexpr Rule rules[] = {
    {"SELECT id FROM hf.tasks WHERE state = {running} AND (owner IS NULL OR lease_until IS NULL) "
     "LIMIT 100",
     "is running without an owner or a lease"},
    {"SELECT id FROM hf.tasks t WHERE state IN ({blocked}, {held}) AND state = {blocked} AND NOT "
     "EXISTS (SELECT 1 FROM"
     " hf.blocks b WHERE b.task = t.id) LIMIT 100",
     "is blocked, but waits for nothing"},
    {"SELECT DISTINCT b.on_task FROM hf.blocks b LEFT JOIN hf.tasks t ON t.id = b.on_task"
     " WHERE t.id IS NULL LIMIT 100",
     "is waited for, but is not there"},
};

void ask_server(Connection& db, IntegrityResult& result) {
  auto checksums = db.run(
      "SELECT coalesce(checksum_failures, 0) FROM pg_stat_database"
      " WHERE datname = current_database()");
  if (checksums.next() && checksums.integer(0) > 0)
    result.damage.push_back(
        {Damage::Kind::file, fmt::format("The server has read {} pages of this database whose "
                                         "checksums are wrong.",
                                         checksums.integer(0))});
  auto indexes = db.run(
      "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
      " WHERE NOT i.indisvalid AND c.relnamespace = (SELECT relnamespace FROM pg_class"
      " WHERE oid = to_regclass('hf.tasks'))");
  while (indexes.next())
    result.damage.push_back(
        {Damage::Kind::index, fmt::format("The index {} is not valid.", indexes.text(0))});
}

}  // namespace

IntegrityResult check_integrity(Store& store, bool full, std::stop_token stop) {
  auto begin = std::chrono::steady_clock::now();
  IntegrityResult result;
  result.full = full;
  bool wrong_counts = false;
  store.reader.read([&](Connection& db) {
    result.damage.clear();
    wrong_counts = false;
    ask_server(db, result);
    for (const auto& rule : rules) {
      if (stop.stop_requested()) {
        result.completed = false;
        return;
      }
      auto rows = db.run(rule.find);
      while (rows.next())
        result.damage.push_back({Damage::Kind::row,
                                 fmt::format("Task {} {}.", rows.task_id(0).text(), rule.what),
                                 rows.task_id(0)});
    }
    find_wrong_counts(db, [&](std::string what) {
      result.damage.push_back({Damage::Kind::index, std::move(what)});
      wrong_counts = true;
    });
    // Reading every row makes the server check the checksum of every page.
    auto rows = db.run(full ? "SELECT count(*) FROM hf.tasks t WHERE length(t::text) > 0"
                            : "SELECT count(*) FROM hf.tasks WHERE state IN {unfinished}");
    if (rows.next()) result.rows_checked = rows.integer(0);
  });
  // Nothing else depends on them, and the tasks say what they should be.
  if (wrong_counts && store.why_read_only.empty())
    store.writer.write({KillPoint::move_before_commit, KillPoint::move_after_commit}, recount);
  result.passed = result.damage.empty();
  if (!result.passed)
    result.advice =
        "Look at the server's log and disk; `pg_amcheck` looks at everything, REINDEX makes "
        "indexes "
        "anew, and a backup brings back what is lost.";
  result.duration = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - begin);
  return result;
}

}  // namespace holdfast::postgres
