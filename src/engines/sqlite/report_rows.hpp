#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "engines/sqlite/connection.hpp"
#include "recovery/report_head.hpp"
#include "recovery/reports.hpp"

/// Reports as they lie in the tables, inside a transaction that the caller has begun.
namespace holdfast::sqlite {

/// Adds entries to a report in the transaction that does what they say. The row of the report comes
/// into being with the first entry, and is brought up to date by `finish`.
class ReportEntries {
 public:
  ReportEntries(Connection& db, const ReportHead& head, WallTime now);

  struct Orphan {
    TaskId id{};
    TaskState now = TaskState::pending;
    int attempt = 0;
    int max_attempts = 0;
    std::optional<WorkerId> worker{};
    std::string_view reason{};
    std::optional<std::string_view> error{};  ///< nothing: it was taken back
  };
  void add(const Orphan& orphan);
  void add(const DeadWorker& worker);
  /// Everything that the report says was taken back.
  std::unordered_set<TaskId> taken();
  /// `n` of the report's row; begins the report if nothing did.
  std::int64_t row();
  void finish();

 private:
  Connection& db_;
  const ReportHead& head_;
  WallTime now_;
  std::int64_t row_ = 0;      // 0: not looked up yet
  std::int64_t entries_ = 0;  // of the report, the new ones included
  OrphanCounts counts_{};     // of the new ones
  std::int64_t dead_workers_ = 0;
};

/// A report as its row has it, with its workers and without its tasks. Whether one that is not
/// complete was interrupted is for the caller to find out.
struct StoredReport {
  std::int64_t row = 0;
  RecoveryReport report{};
};
std::vector<StoredReport> read_reports(Connection& db, int count);  ///< newest first
StoredReport read_report(Connection& db, ReportId id);
/// Reads tasks into a report that has some already; up to `limit` in all, and a portion at a time,
/// because a long read keeps the WAL from starting anew. False: that was all.
bool read_more_tasks(Connection& db, StoredReport& stored, std::int64_t limit);

/// Makes the oldest reports invisible where there are too many, or too many entries in them; their
/// numbers stay in the totals. Their entries go later, in portions.
void shed_reports(Connection& db);
/// Removes some entries that have no report any more; false: there are none.
bool shed_report_entries(Connection& db);

RecoveryTotals read_totals(Connection& db);

}  // namespace holdfast::sqlite
