#include "engines/sqlite/report_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "recovery/reports.hpp"

namespace holdfast::sqlite {

namespace {

constexpr int entries_at_once = 2'000;
constexpr std::int64_t entries_a_read = 10'000;

#define HOLDFAST_REPORT_COLUMNS \
  "n, id, at, complete, pending, failed, held, cancelled, not_taken, report"

OrphanCounts read_counts(const Statement& row, int first) {
  OrphanCounts counts;
  counts.pending = row.integer(first);
  counts.failed = row.integer(first + 1);
  counts.held = row.integer(first + 2);
  counts.cancelled = row.integer(first + 3);
  counts.not_taken = row.integer(first + 4);
  return counts;
}

void add_workers(Connection& db, StoredReport& stored) {
  auto query = db.use(
      "SELECT worker, host, pid, last_heartbeat, cause, evidence FROM holdfast_report_workers"
      " WHERE report = ? ORDER BY worker");
  query.bind(stored.row);
  while (query.step()) {
    stored.report.dead_workers.push_back({query.worker_id(0), query.text(1),
                                          static_cast<int>(query.integer(2)), query.time(3),
                                          query.text(4), query.text(5)});
  }
}

/// The text of a report has no checksum. What has rows of its own is shown all the same, and nobody
/// need be kept from working by an old report.
RecoveryReport read_text(const Statement& row) {
  try {
    return report_from_json(row.text(9));
  } catch (const StoreUnusable& damage) {
    RecoveryReport left;
    left.started_at = left.completed_at = row.time(2);
    left.errors.push_back(fmt::format("This report was damaged on disk: {}", damage.what()));
    return left;
  }
}

StoredReport read_row(Connection& db, const Statement& row) {
  StoredReport stored{row.integer(0), read_text(row)};
  auto& report = stored.report;
  report.id = ReportId{row.task_id(1).bytes};
  if (row.integer(3) == 0) {
    report.completed_at = row.time(2);
    report.duration = std::max(report.completed_at - report.started_at, Millis{0});
  }
  report.orphans = read_counts(row, 4);
  add_workers(db, stored);
  return stored;
}

}  // namespace

ReportEntries::ReportEntries(Connection& db, const ReportHead& head, WallTime now)
    : db_{db}, head_{head}, now_{now} {}

std::int64_t ReportEntries::row() {
  if (row_ != 0) return row_;
  auto find = db_.use(
      "SELECT n, pending + failed + held + cancelled + not_taken FROM holdfast_reports"
      " WHERE id = ?");
  find.bind(head_.id);
  if (find.step()) {
    row_ = find.integer(0);
    entries_ = find.integer(1);
    return row_;
  }
  RecoveryReport begun;
  begun.state = ReportState::running;
  begun.started_at = begun.completed_at = head_.started_at;
  begun.trigger = head_.trigger;
  begun.action = head_.action;
  auto text = to_json(begun);
  db_.use("INSERT INTO holdfast_reports (id, at, report) VALUES (?, ?, ?)")
      .bind(head_.id, now_, text)
      .run();
  row_ = db_.last_insert();
  return row_;
}

void ReportEntries::add(const Orphan& orphan) {
  auto report = row();
  auto insert = db_.use(
      "INSERT INTO holdfast_report_tasks (report, n, task, state, attempt, max_attempts, worker,"
      " reason, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(report, ++entries_, orphan.id, orphan.now, orphan.attempt, orphan.max_attempts,
              orphan.worker, orphan.reason, orphan.error);
  insert.run();
  counts_.count(orphan.now, !orphan.error);
}

void ReportEntries::add(const DeadWorker& worker) {
  auto report = row();
  db_.use("INSERT INTO holdfast_report_workers VALUES (?, ?, ?, ?, ?, ?, ?)")
      .bind(report, worker.id, worker.host, worker.pid, worker.last_heartbeat, worker.cause,
            worker.evidence)
      .run();
  ++dead_workers_;
}

std::unordered_set<TaskId> ReportEntries::taken() {
  std::unordered_set<TaskId> ids;
  auto report = row();
  auto query = db_.use("SELECT task FROM holdfast_report_tasks WHERE report = ? AND error IS NULL");
  query.bind(report);
  while (query.step()) ids.insert(query.task_id(0));
  return ids;
}

void ReportEntries::finish() {
  if (row_ == 0) return;
  db_.use(
         "UPDATE holdfast_reports SET at = ?2, pending = pending + ?3, failed = failed + ?4,"
         " held = held + ?5, cancelled = cancelled + ?6, not_taken = not_taken + ?7,"
         " dead_workers = dead_workers + ?8 WHERE n = ?1")
      .bind(row_, now_, counts_.pending, counts_.failed, counts_.held, counts_.cancelled,
            counts_.not_taken, dead_workers_)
      .run();
}

std::vector<StoredReport> read_reports(Connection& db, int count) {
  std::vector<StoredReport> reports;
  auto query = db.use("SELECT " HOLDFAST_REPORT_COLUMNS
                      " FROM holdfast_reports WHERE n > 0 ORDER BY n DESC LIMIT ?");
  query.bind(count);
  while (query.step()) reports.push_back(read_row(db, query));
  return reports;
}

StoredReport read_report(Connection& db, ReportId id) {
  auto query = db.use("SELECT " HOLDFAST_REPORT_COLUMNS " FROM holdfast_reports WHERE id = ?");
  query.bind(id);
  return query.step() ? read_row(db, query) : StoredReport{};
}

bool read_more_tasks(Connection& db, StoredReport& stored, std::int64_t limit) {
  auto& report = stored.report;
  // What a run that goes on has added since the row was read is not in its counts.
  auto left = std::min(limit, report.orphans.all()) - std::ssize(report.tasks);
  auto portion = std::clamp<std::int64_t>(left, 0, entries_a_read);
  auto query = db.use(
      "SELECT task, state, attempt, max_attempts, worker, reason, error FROM holdfast_report_tasks"
      " WHERE report = ? AND n > ? ORDER BY n LIMIT ?");
  query.bind(stored.row, std::ssize(report.tasks), portion);
  std::int64_t got = 0;
  for (; query.step(); ++got) {
    auto& task = report.tasks.emplace_back();
    task.id = query.task_id(0);
    task.action = report.action;
    task.now = static_cast<TaskState>(query.integer(1));
    task.attempt = static_cast<int>(query.integer(2));
    task.max_attempts = static_cast<int>(query.integer(3));
    if (!query.is_null(4)) task.worker = query.worker_id(4);
    task.reason = query.text(5);
    task.success = query.is_null(6);
    task.error = query.text(6);
  }
  return got == portion && left > portion;
}

void shed_reports(Connection& db) {
  auto oldest = db.use(
      "SELECT max(n) FROM (SELECT n, row_number() OVER (ORDER BY n DESC) AS place,"
      " sum(pending + failed + held + cancelled + not_taken) OVER (ORDER BY n DESC) AS entries"
      " FROM holdfast_reports WHERE n > 0) WHERE place > ?1 OR (place > 1 AND entries > ?2)");
  oldest.bind(reports_kept, report_entries_kept);
  if (!oldest.step() || oldest.is_null(0)) return;
  auto last = oldest.integer(0);
  db.use(
        "INSERT OR IGNORE INTO holdfast_reports (n, id, at, complete, runs, report)"
        " VALUES (0, x'00', 0, 1, 0, '')")
      .run();
  db.use(
        "UPDATE holdfast_reports SET (runs, pending, failed, held, cancelled, not_taken,"
        " dead_workers) = (SELECT sum(runs), sum(pending), sum(failed), sum(held), sum(cancelled),"
        " sum(not_taken), sum(dead_workers) FROM holdfast_reports WHERE n <= ?1) WHERE n = 0")
      .bind(last)
      .run();
  db.use("DELETE FROM holdfast_reports WHERE n > 0 AND n <= ?").bind(last).run();
  db.use("DELETE FROM holdfast_report_workers WHERE report <= ?").bind(last).run();
}

bool shed_report_entries(Connection& db) {
  db.use(
        "DELETE FROM holdfast_report_tasks WHERE (report, n) IN (SELECT report, n"
        " FROM holdfast_report_tasks WHERE report < (SELECT min(n) FROM holdfast_reports"
        " WHERE n > 0) ORDER BY report, n LIMIT ?)")
      .bind(entries_at_once)
      .run();
  return db.changes() > 0;
}

RecoveryTotals read_totals(Connection& db) {
  RecoveryTotals totals;
  auto sums = db.use(
      "SELECT total(runs), total(pending), total(failed), total(held), total(cancelled),"
      " total(not_taken), total(dead_workers) FROM holdfast_reports");
  if (sums.step()) {
    totals.recoveries = sums.integer(0);
    totals.orphans = read_counts(sums, 1);
    totals.dead_workers = sums.integer(6);
  }
  totals.stale_writes_refused =
      db.number("SELECT value FROM holdfast_meta WHERE key = 'stale_writes_refused'");
  return totals;
}

}  // namespace holdfast::sqlite
