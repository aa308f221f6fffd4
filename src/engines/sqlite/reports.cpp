#include "engines/sqlite/reports.hpp"

#include <fcntl.h>

#include <algorithm>
#include <limits>

#include "engines/sqlite/file_lock.hpp"
#include "engines/sqlite/report_rows.hpp"
#include "recovery/bare_report.hpp"

namespace holdfast::sqlite {

namespace {

constexpr Writer::KillPoints report_points{KillPoint::report_before_commit,
                                           KillPoint::report_after_commit};

/// The byte of the file `recoveries` that the run which writes a report keeps locked. A lock may
/// lie far beyond the end of a file, so an id needs no table to find its byte. Ids of the same
/// moment differ in their last bits only, so it is the first bit that is left out.
long byte_of(ReportId id) {
  static_assert(sizeof(long) == 8);
  unsigned long byte = 0;
  for (std::size_t i = 8; i < 16; ++i) byte = byte << 8 | id.bytes[i];
  return static_cast<long>(byte & std::numeric_limits<long>::max());
}

class LockedByte final : public ReportHold {
 public:
  LockedByte(const SideFiles& files, ReportId report)
      : file_{open_private(files.recoveries(), O_RDWR | O_CREAT)} {
    if (!try_lock(file_.get(), byte_of(report)))
      throw StoreError{"another recovery writes a report of the same name"};
  }

 private:
  FileDescriptor file_;  // closing it gives the lock back
};

bool held(const SideFiles& files, ReportId report) {
  auto file = look_at_private(files.recoveries());
  return file && is_locked(file.get(), byte_of(report));
}

void add_failures(ReportEntries& entries, const RecoveryReport& end) {
  if (end.tasks.empty()) return;
  auto taken = entries.taken();
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

void read_tasks(Reader& reader, StoredReport& stored, int limit) {
  bool more = limit > 0;
  while (more) {
    more = reader.read([&](Connection& db) { return read_more_tasks(db, stored, limit); });
  }
}

std::int64_t refused_before(Connection& db, std::int64_t row) {
  auto before = db.use(
      "SELECT json_extract(report, '$.stale_writes_refused_ever') FROM holdfast_reports"
      " WHERE complete AND n > 0 AND n <> ? AND json_valid(report) ORDER BY n DESC LIMIT 1");
  before.bind(row);
  return before.step() ? before.integer(0) : 0;
}

/// What the row keeps: everything but what has rows of its own.
std::string row_text(Connection& db, std::int64_t row, const RecoveryReport& end) {
  auto kept = bare_report(end);
  kept.stale_writes_refused_ever = read_totals(db).stale_writes_refused;
  auto since = std::max<std::int64_t>(kept.stale_writes_refused_ever - refused_before(db, row), 0);
  kept.stale_writes_refused = static_cast<int>(since);
  return to_json(kept);
}

}  // namespace

std::unique_ptr<ReportHold> SqliteReports::hold(ReportId report) {
  return std::make_unique<LockedByte>(store_.files, report);
}

RecoveryReport SqliteReports::complete(const ReportHead& head, const RecoveryReport& end) {
  bool more = store_.writer.write(report_points, [&](Connection& db) {
    ReportEntries entries{db, head, end.completed_at};
    auto row = entries.row();
    add_failures(entries, end);
    entries.finish();
    auto text = row_text(db, row, end);
    db.use("UPDATE holdfast_reports SET complete = 1, report = ?2 WHERE n = ?1")
        .bind(row, text)
        .run();
    shed_reports(db);
    return shed_report_entries(db);
  });
  while (more) more = store_.writer.write(report_points, shed_report_entries);
  auto stored = store_.reader.read([&](Connection& db) { return read_report(db, head.id); });
  read_tasks(store_.reader, stored, std::numeric_limits<int>::max());
  return std::move(stored.report);
}

std::vector<RecoveryReport> SqliteReports::newest(int count, int tasks_of_each) {
  auto stored = store_.reader.read([&](Connection& db) { return read_reports(db, count); });
  std::vector<RecoveryReport> reports;
  for (auto& one : stored) {
    if (one.report.state == ReportState::running && !held(store_.files, one.report.id)) {
      // It may have been completed since we read it; if it still is not, it never will be.
      auto again =
          store_.reader.read([&](Connection& db) { return read_report(db, one.report.id); });
      if (again.row != 0) one = std::move(again);
      if (one.report.state == ReportState::running) one.report.state = ReportState::interrupted;
    }
    read_tasks(store_.reader, one, tasks_of_each);
    reports.push_back(std::move(one.report));
  }
  return reports;
}

RecoveryTotals SqliteReports::totals() {
  return store_.reader.read([](Connection& db) { return read_totals(db); });
}

}  // namespace holdfast::sqlite
