#include "engines/sqlite/worker_rows.hpp"

namespace holdfast::sqlite {

namespace {

WorkerRow read_row(const Statement& row) {
  WorkerRow read;
  auto& status = read.status;
  status.id = row.worker_id(0);
  status.host = row.text(1);
  status.pid = static_cast<int>(row.integer(2));
  read.clock = row.text(3);
  read.boot = boot_of(read.clock);
  read.here = true;
  status.stale_after = Millis{row.integer(4)};
  read.lease_until = Millis{row.integer(5)};
  status.started_at = row.time(6);
  status.last_heartbeat = row.time(7);
  read_profile(row.text(8), status);
  status.holding = ids_from_json(row.text(9));
  if (!row.is_null(10)) status.state = WorkerState::stopped;
  read.buried = !row.is_null(11);
  if (read.buried) status.state = WorkerState::dead;
  read.cleared = !row.is_null(12);
  status.cause = row.text(13);
  status.evidence = row.text(14);
  return read;
}

}  // namespace

std::vector<WorkerRow> worker_rows(Connection& db, WhichWorkers which) {
  std::vector<WorkerRow> rows;
  auto query = db.use(
      "SELECT id, host, pid, clock, lease, lease_until, started_at, last_heartbeat, profile,"
      " holding, stopped_at, died_at, cleared_at, cause, evidence FROM holdfast_workers"
      " WHERE ?1 OR (stopped_at IS NULL AND cleared_at IS NULL) ORDER BY seq");
  query.bind(which == WhichWorkers::all);
  while (query.step()) rows.push_back(read_row(query));
  return rows;
}

Sighting judge(WorkerRow row, std::optional<bool> locked, const std::string& clock, Millis now) {
  const bool held = locked.value_or(false);
  // A held lock is the best proof of life, whatever a container makes of the boot id.
  const bool restarted = !held && restarted_between(row.boot, boot_of(clock));
  row.silent = now - row.lease_until + row.status.stale_after;
  // Steady times of another time namespace mean nothing here: there only the lock counts.
  row.past_its_time = row.clock == clock && row.lease_until < now;
  Proof proof{.of = held                           ? Proof::Of::life
                    : restarted || locked == false ? Proof::Of::death
                                                   : Proof::Of::nothing};
  proof.seen = !locked ? "no lock file" : held ? "lock held" : "lock released";
  proof.cause = held        ? "its lock is still held: stopped or hung"
                : restarted ? "the machine was restarted"
                : locked    ? "its lock is free"
                            : "it has no lock that would prove life";
  return holdfast::judge(row, proof);
}

}  // namespace holdfast::sqlite
