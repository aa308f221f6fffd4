#include "engines/postgres/worker_rows.hpp"

#include <chrono>

#include "engines/postgres/orphaned.hpp"

namespace holdfast::postgres {

namespace {

WorkerRow read_row(const Rows& row) {
  WorkerRow read;
  auto& status = read.status;
  status.id = row.worker_id(0);
  status.host = row.text(1);
  read.here = status.host == host_name();
  status.pid = row.small(2);
  read.session = row.text(3);
  status.stale_after = Millis{row.integer(4)};
  read.past_its_time = row.yes(5);
  read.silent = Millis{row.integer(6)};
  status.started_at = row.time(7);
  status.last_heartbeat = row.time(8);
  status.heartbeat_interval = Millis{row.integer(9)};
  status.concurrency = row.small(10);
  status.queues = row.texts(11);
  status.kinds = row.texts(12);
  status.holding = row.task_ids(13);
  if (!row.is_null(14)) status.state = WorkerState::stopped;
  read.buried = !row.is_null(15);
  if (read.buried) status.state = WorkerState::dead;
  read.cleared = !row.is_null(16);
  status.cause = row.text(17);
  status.evidence = row.text(18);
  read.boot = row.text(19);
  read.proven = row.yes(20);
  Remains remains;
  remains.readable = row.yes(21);
  remains.machine_restarted = row.yes(22);
  auto tasks = row.task_ids(23);
  auto tokens = row.integers(24);
  for (std::size_t i = 0; i < tasks.size() && i < tokens.size(); ++i)
    remains.running.push_back({tasks[i], Token{tokens[i]}});
  remains.evidence = status.evidence;
  read.remains = std::move(remains);
  if (!row.is_null(25)) read.free = row.yes(25);
  read.lease_until = Millis{row.integer(26)};
  read.ahead = row.yes(27);
  return read;
}

}  // namespace

std::vector<WorkerRow> worker_rows(Connection& db, WhichWorkers which) {
  auto found = db.run(
      "SELECT w.id, w.host, w.pid, w.session, w.lease," HOLDFAST_PAST_ITS_TIME("w") ","
      " {steady} - w.lease_until + w.lease, w.started_at, w.last_heartbeat, w.heartbeat,"
      " w.concurrency, w.queues, w.kinds, w.holding, w.stopped_at, w.died_at, w.cleared_at,"
      " w.cause, w.evidence, w.boot, w.proven, w.readable, w.restarted, w.running,"
      " w.running_tokens, CASE WHEN w.session = $2 AND w.stopped_at IS NULL AND w.cleared_at IS"
      " NULL THEN pg_try_advisory_xact_lock_shared(w.lock) END, w.lease_until,"
      HOLDFAST_AHEAD("w", "w.lease") "FROM hf.workers w"
      " WHERE $1 OR (w.stopped_at IS NULL AND w.cleared_at IS NULL) ORDER BY w.n",
      which == WhichWorkers::all, db.server_run());
  std::vector<WorkerRow> rows;
  while (found.next()) rows.push_back(read_row(found));
  return rows;
}

bool anybody_dead(Connection& db) {
  auto row = db.run(
      "SELECT count(*) FILTER (WHERE w.died_at IS NOT NULL OR CASE WHEN w.session = $1 THEN"
      " pg_try_advisory_xact_lock_shared(w.lock) ELSE false END) > 0 FROM hf.workers w"
      " WHERE w.stopped_at IS NULL AND w.cleared_at IS NULL",
      db.server_run());
  return row.next() && row.yes(0);
}

Sighting judge(const WorkerRow& row) {
  Proof proof;
  if (!row.free) {
    proof.seen =
        row.session.empty() ? "no lock: behind a pooler" : "the server was restarted since";
    proof.cause = "it has no lock that would prove life";
  } else if (*row.free) {
    proof = {Proof::Of::death, "lock released", "its session on the server is gone"};
  } else {
    proof = {Proof::Of::life, "lock held", "its lock is still held: stopped or hung"};
  }
  return holdfast::judge(row, proof);
}

}  // namespace holdfast::postgres
