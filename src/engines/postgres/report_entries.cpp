#include "engines/postgres/report_entries.hpp"

namespace holdfast::postgres {

void ReportEntries::begin(Connection& db) const {
  RecoveryReport begun;
  begun.state = ReportState::running;
  begun.started_at = begun.completed_at = head_.started_at;
  begun.trigger = head_.trigger;
  begun.action = head_.action;
  db.queue(
      "INSERT INTO hf.reports (id, at, report) VALUES ($1, {wall}, $2) ON CONFLICT (id) DO NOTHING",
      head_.id, to_json(begun));
}

void ReportEntries::add(const Orphan& orphan) {
  tasks_.add(orphan.id);
  states_.add(orphan.now);
  attempts_.add(orphan.attempt);
  most_.add(orphan.max_attempts);
  workers_.add(orphan.worker);
  reasons_.add(orphan.reason);
  errors_.add(orphan.error);
  counts_.count(orphan.now, !orphan.error);
}

void ReportEntries::add(Connection& db, const DeadWorker& worker) {
  db.queue("INSERT INTO hf.report_workers VALUES ($1, $2, $3, $4, $5, $6, $7)", head_.id, worker.id,
           worker.host, worker.pid, worker.last_heartbeat, worker.cause, worker.evidence);
  ++dead_workers_;
}

void ReportEntries::queue(Connection& db) {
  if (tasks_.size() == 0 && dead_workers_ == 0) return;
  begin(db);
  if (tasks_.size() > 0)
    db.queue(
        "INSERT INTO hf.report_tasks (report, task, state, attempt, max_attempts, worker, reason,"
        " error) SELECT $1, o.* FROM unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[],"
        " $6::uuid[], $7::text[], $8::text[]) AS o",
        head_.id, tasks_.value(), states_.value(), attempts_.value(), most_.value(),
        workers_.value(), reasons_.value(), errors_.value());
  db.queue(
      "UPDATE hf.reports SET at = {wall}, pending = pending + $2, failed = failed + $3,"
      " held = held + $4, cancelled = cancelled + $5, not_taken = not_taken + $6,"
      " dead_workers = dead_workers + $7 WHERE id = $1",
      head_.id, counts_.pending, counts_.failed, counts_.held, counts_.cancelled, counts_.not_taken,
      dead_workers_);
}

}  // namespace holdfast::postgres
