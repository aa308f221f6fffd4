#pragma once

#include "engines/sqlite/store.hpp"
#include "recovery/reports.hpp"

namespace holdfast::sqlite {

class SqliteReports final : public Reports {
 public:
  explicit SqliteReports(Store& store) : store_{store} {}

  std::unique_ptr<ReportHold> hold(ReportId report) override;
  RecoveryReport complete(const ReportHead& head, const RecoveryReport& end) override;
  std::vector<RecoveryReport> newest(int count, int tasks_of_each) override;
  RecoveryTotals totals() override;

 private:
  Store& store_;
};

}  // namespace holdfast::sqlite
