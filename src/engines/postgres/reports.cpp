#include "engines/postgres/reports.hpp"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "engines/postgres/report_entries.hpp"
#include "recovery/bare_report.hpp"

namespace holdfast::postgres {

namespace {

constexpr Writer::KillPoints report_points{KillPoint::report_before_commit,
                                           KillPoint::report_after_commit};
/// Where no lock can say whether a run goes on, its last commit does.
constexpr Millis a_run_takes{60'000};

class LockedReport final : public ReportHold {
 public:
  LockedReport(Session& session, ReportId report) : session_{session}, key_{lock_key(report)} {
    session_.hold(key_);
  }
  ~LockedReport() override { session_.let_go(key_); }

 private:
  Session& session_;
  std::int64_t key_;
};

OrphanCounts read_counts(const Rows& row, int first) {
  OrphanCounts counts;
  counts.pending = row.integer(first);
  counts.failed = row.integer(first + 1);
  counts.held = row.integer(first + 2);
  counts.cancelled = row.integer(first + 3);
  counts.not_taken = row.integer(first + 4);
  return counts;
}

void add_workers(Connection& db, RecoveryReport& report) {
  auto rows = db.run(
      "SELECT worker, host, pid, last_heartbeat, cause, evidence FROM hf.report_workers"
      " WHERE report = $1 ORDER BY worker",
      report.id);
  while (rows.next())
    report.dead_workers.push_back(
        {rows.worker_id(0), rows.text(1), rows.small(2), rows.time(3), rows.text(4), rows.text(5)});
}

void add_tasks(Connection& db, RecoveryReport& report, int limit) {
  auto rows = db.run(
      "SELECT task, state, attempt, max_attempts, worker, reason, error FROM hf.report_tasks"
      " WHERE report = $1 ORDER BY n LIMIT $2",
      report.id, limit);
  while (rows.next()) {
    auto& task = report.tasks.emplace_back();
    task.id = rows.task_id(0);
    task.action = report.action;
    task.now = rows.state(1);
    task.attempt = rows.small(2);
    task.max_attempts = rows.small(3);
    task.worker = rows.optional_worker(4);
    task.reason = rows.text(5);
    task.success = rows.is_null(6);
    if (!task.success) task.error = rows.text(6);
  }
}

/// $2 is the only report wanted; NULL: the newest.
constexpr const char* select_reports =
    "SELECT id, at, complete, pending, failed, held, cancelled, not_taken, report,"
    " {wall} - at FROM hf.reports WHERE NOT gone AND ($2::uuid IS NULL OR id = $2)"
    " ORDER BY n DESC LIMIT $1";

struct Stored {
  RecoveryReport report;
  Millis age{0};  ///< of its last commit
};

std::vector<Stored> read_reports(Connection& db, int count, std::optional<ReportId> only,
                                 int tasks_of_each) {
  auto rows = db.run(select_reports, count, only);
  std::vector<Stored> reports;
  while (rows.next()) {
    auto& [report, age] = reports.emplace_back(Stored{report_from_json(rows.text(8))});
    report.id = rows.report_id(0);
    if (!rows.yes(2)) {
      report.completed_at = rows.time(1);
      report.duration = std::max(report.completed_at - report.started_at, Millis{0});
    }
    report.orphans = read_counts(rows, 3);
    age = Millis{rows.integer(9)};
  }
  for (auto& stored : reports) {
    add_workers(db, stored.report);
    if (tasks_of_each > 0) add_tasks(db, stored.report, tasks_of_each);
  }
  return reports;
}

bool somebody_holds(Connection& db, const Stored& stored) {
  if (db.is_pooled()) return stored.age < a_run_takes;
  auto row = db.run("SELECT NOT pg_try_advisory_xact_lock_shared($1)", lock_key(stored.report.id));
  return row.next() && row.yes(0);
}

/// What could not be taken back, but for what was: only the reply was lost.
void add_failures(Connection& db, ReportEntries& entries, ReportId id, const RecoveryReport& end) {
  if (end.tasks.empty()) return;
  std::unordered_set<TaskId> taken;
  auto rows = db.run("SELECT task FROM hf.report_tasks WHERE report = $1 AND error IS NULL", id);
  while (rows.next()) taken.insert(rows.task_id(0));
  for (const auto& task : end.tasks) {
    if (taken.contains(task.id)) continue;
    entries.add({.id = task.id,
                 .now = task.now,
                 .attempt = task.attempt,
                 .max_attempts = task.max_attempts,
                 .worker = task.worker,
                 .reason = task.reason,
                 .error = task.error});
  }
}

/// What the row keeps: everything but what has rows of its own.
RecoveryReport row_of(const RecoveryReport& end, std::int64_t refused_ever,
                      std::int64_t refused_before) {
  auto kept = bare_report(end);
  kept.stale_writes_refused_ever = refused_ever;
  kept.stale_writes_refused =
      static_cast<int>(std::max<std::int64_t>(refused_ever - refused_before, 0));
  return kept;
}

/// The oldest go where there are too many of them or of their entries; their numbers stay in the
/// totals.
void queue_shedding(Connection& db) {
  db.queue(
      "WITH places AS (SELECT n, row_number() OVER newest AS place, sum(pending + failed + held"
      " + cancelled + not_taken) OVER newest AS entries FROM hf.reports WHERE NOT gone"
      " WINDOW newest AS (ORDER BY n DESC)),"
      " old AS (DELETE FROM hf.reports WHERE NOT gone AND n <= (SELECT max(n) FROM places"
      " WHERE place > $1 OR (place > 1 AND entries > $3)) RETURNING *),"
      " t AS (DELETE FROM hf.report_tasks WHERE report IN (SELECT id FROM old)),"
      " w AS (DELETE FROM hf.report_workers WHERE report IN (SELECT id FROM old))"
      " INSERT INTO hf.reports AS r (id, at, complete, gone, runs, pending, failed, held,"
      " cancelled, not_taken, dead_workers, report) SELECT $2, max(at), true, true, sum(runs),"
      " sum(pending), sum(failed), sum(held), sum(cancelled), sum(not_taken), sum(dead_workers),"
      " '' FROM old HAVING count(*) > 0 ON CONFLICT (id) DO UPDATE SET runs = r.runs +"
      " excluded.runs, pending = r.pending + excluded.pending, failed = r.failed +"
      " excluded.failed, held = r.held + excluded.held, cancelled = r.cancelled +"
      " excluded.cancelled, not_taken = r.not_taken + excluded.not_taken,"
      " dead_workers = r.dead_workers + excluded.dead_workers",
      reports_kept, ReportId{}, report_entries_kept);
}

std::int64_t number(Connection& db, const char* sql) {
  auto row = db.run(sql);
  return row.next() ? row.integer(0) : 0;
}

}  // namespace

std::unique_ptr<ReportHold> PostgresReports::hold(ReportId report) {
  return std::make_unique<LockedReport>(store_.session, report);
}

RecoveryReport PostgresReports::complete(const ReportHead& head, const RecoveryReport& end) {
  store_.writer.write(report_points, [&](Connection& db) {
    ReportEntries entries{head};
    entries.begin(db);
    add_failures(db, entries, head.id, end);
    entries.queue(db);
    auto ever = number(db, "SELECT value FROM hf.meta WHERE key = 'stale_writes_refused'");
    auto before = number(db,
                         "SELECT refused_ever FROM hf.reports WHERE complete AND NOT gone"
                         " ORDER BY n DESC LIMIT 1");
    db.run(
        "UPDATE hf.reports SET at = $2, complete = true, refused_ever = $3, report = $4"
        " WHERE id = $1",
        head.id, end.completed_at, ever, to_json(row_of(end, ever, before)));
    queue_shedding(db);
  });
  auto stored = store_.reader.read([&](Connection& db) {
    return read_reports(db, 1, head.id, std::numeric_limits<int>::max());
  });
  return stored.empty() ? end : std::move(stored.front().report);
}

std::vector<RecoveryReport> PostgresReports::newest(int count, int tasks_of_each) {
  return store_.reader.answer([&](Connection& db) {
    std::vector<RecoveryReport> reports;
    for (auto& stored : read_reports(db, count, {}, tasks_of_each)) {
      if (stored.report.state == ReportState::running && !somebody_holds(db, stored)) {
        // It may have been completed since we read it; if it still is not, it never will be.
        auto again = read_reports(db, 1, stored.report.id, tasks_of_each);
        if (!again.empty()) stored = std::move(again.front());
        if (stored.report.state == ReportState::running)
          stored.report.state = ReportState::interrupted;
      }
      reports.push_back(std::move(stored.report));
    }
    return reports;
  });
}

RecoveryTotals PostgresReports::totals() {
  return store_.reader.answer([](Connection& db) {
    RecoveryTotals totals;
    auto sums = db.run(
        "SELECT coalesce(sum(runs), 0)::bigint, coalesce(sum(pending), 0)::bigint,"
        " coalesce(sum(failed), 0)::bigint, coalesce(sum(held), 0)::bigint,"
        " coalesce(sum(cancelled), 0)::bigint, coalesce(sum(not_taken), 0)::bigint,"
        " coalesce(sum(dead_workers), 0)::bigint FROM hf.reports");
    if (sums.next()) {
      totals.recoveries = sums.integer(0);
      totals.orphans = read_counts(sums, 1);
      totals.dead_workers = sums.integer(6);
    }
    totals.stale_writes_refused =
        number(db, "SELECT value FROM hf.meta WHERE key = 'stale_writes_refused'");
    return totals;
  });
}

}  // namespace holdfast::postgres
