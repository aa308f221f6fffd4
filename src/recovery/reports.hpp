#pragma once

#include <memory>
#include <vector>

#include <holdfast/report.hpp>

#include "recovery/report_head.hpp"

namespace holdfast {

/// Enough to look back. The oldest reports are shed where there are more of them, or where all of
/// them have more entries; the newest is kept however many it has.
inline constexpr int reports_kept = 500;
inline constexpr int report_entries_kept = 250'000;

/// Proof that the run which writes a report goes on. Gone with the object or with its process.
class ReportHold {
 public:
  virtual ~ReportHold() = default;
};

/// Where recovery leaves its reports. The entries are not written here but by the steps that they
/// are about: `Leases::reclaim` and `WorkerRegistry::bury`.
class Reports {
 public:
  virtual ~Reports() = default;

  /// To be held from before the first entry until the report is complete. An incomplete report that
  /// nobody holds is shown as interrupted.
  virtual std::unique_ptr<ReportHold> hold(ReportId report) = 0;

  /// Completes a report with what only its run knows: times, start-up, errors, and `end.tasks`, the
  /// orphans that could not be taken back. One of these that the report says was taken back is left
  /// out: it was, only the reply was lost. Sheds the oldest reports. Returns how it now stands.
  virtual RecoveryReport complete(const ReportHead& head, const RecoveryReport& end) = 0;

  /// Newest first, each with its first `tasks_of_each` tasks.
  virtual std::vector<RecoveryReport> newest(int count, int tasks_of_each) = 0;

  virtual RecoveryTotals totals() = 0;
};

}  // namespace holdfast
