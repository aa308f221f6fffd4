#include "simulation/probe.hpp"

#include <sqlite3.h>

namespace holdfast::sim {

Probe::Probe(const std::string& database)
    : db_{database, sqlite::Connection::Mode::read_write, Durability::crash_safe} {}

std::vector<TaskRow> Probe::tasks() {
  std::vector<TaskRow> rows;
  auto query = db_.use(
      "SELECT id, state, token, attempt, recoveries, crashes, suspect, cancel_requested, run_at,"
      " lease_until, cause FROM holdfast_tasks ORDER BY seq");
  while (query.step()) {
    auto& row = rows.emplace_back();
    row.id = query.task_id(0);
    row.state = static_cast<TaskState>(query.integer(1));
    row.token = Token{query.integer(2)};
    row.attempt = static_cast<int>(query.integer(3));
    row.recoveries = static_cast<int>(query.integer(4));
    row.crashes = static_cast<int>(query.integer(5));
    row.suspect = query.integer(6) != 0;
    row.cancel_requested = query.integer(7) != 0;
    row.run_at = query.time(8);
    if (!query.is_null(9)) row.lease_until = Millis{query.integer(9)};
    row.cause = query.text(10);
  }
  return rows;
}

std::vector<RecoveryRow> Probe::recoveries() {
  std::vector<RecoveryRow> rows;
  auto query = db_.use(
      "SELECT t.id, h.to_state, h.attempt, h.reason FROM holdfast_history h"
      " JOIN holdfast_tasks t ON t.seq = h.task"
      " WHERE h.actor = 'system/recovery' AND h.from_state = 1 ORDER BY h.task, h.n");
  while (query.step()) {
    rows.push_back({query.task_id(0), static_cast<TaskState>(query.integer(1)),
                    static_cast<int>(query.integer(2)), query.text(3)});
  }
  return rows;
}

std::int64_t Probe::refused() {
  return db_.number("SELECT value FROM holdfast_meta WHERE key = 'stale_writes_refused'");
}

void Probe::wipe() {
  for (const char* statement :
       {"BEGIN IMMEDIATE", "DELETE FROM holdfast_lanes", "DELETE FROM holdfast_paused",
        "DELETE FROM holdfast_tasks", "DELETE FROM holdfast_counts", "DELETE FROM sqlite_sequence",
        "DELETE FROM holdfast_blocks", "DELETE FROM holdfast_history",
        "DELETE FROM holdfast_progress", "DELETE FROM holdfast_log", "DELETE FROM holdfast_effects",
        "DELETE FROM holdfast_workers", "DELETE FROM holdfast_reports",
        "DELETE FROM holdfast_report_tasks", "DELETE FROM holdfast_report_workers",
        "UPDATE holdfast_meta SET value = 0 WHERE key = 'stale_writes_refused'", "COMMIT"})
    db_.use(statement).run();
  // In a long WAL every look takes long, because the same few pages are in it again and again.
  int code =
      sqlite3_wal_checkpoint_v2(db_.handle(), "main", SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
  if (code != SQLITE_OK) sqlite::throw_sqlite_error(db_.handle(), code, "starting the WAL anew");
}

}  // namespace holdfast::sim
