#include "engines/sqlite/reports.hpp"

namespace holdfast::sqlite {

namespace {

constexpr int reports_kept = 500;

}  // namespace

void SqliteReports::file(const RecoveryReport& report) {
  auto text = to_json(report);
  store_.writer.write({KillPoint::report_before_commit, KillPoint::report_after_commit},
                      [&](Connection& db) {
                        db.use("INSERT INTO holdfast_reports (at, report) VALUES (?, ?)")
                            .bind(report.completed_at, text)
                            .run();
                        db.use("DELETE FROM holdfast_reports WHERE n <= ?")
                            .bind(db.last_insert() - reports_kept)
                            .run();
                      });
}

std::vector<RecoveryReport> SqliteReports::newest(int count) {
  return store_.reader.read([&](Connection& db) {
    std::vector<RecoveryReport> reports;
    auto query = db.use("SELECT report FROM holdfast_reports ORDER BY n DESC LIMIT ?");
    query.bind(count);
    while (query.step()) reports.push_back(report_from_json(query.text(0)));
    return reports;
  });
}

std::int64_t SqliteReports::stale_writes_refused() {
  return store_.reader.read([](Connection& db) {
    return db.number("SELECT value FROM holdfast_meta WHERE key = 'stale_writes_refused'");
  });
}

}  // namespace holdfast::sqlite
