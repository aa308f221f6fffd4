#pragma once

#include "engines/postgres/store.hpp"
#include "recovery/reports.hpp"

namespace holdfast::postgres {

class PostgresReports final : public Reports {
 public:
  explicit PostgresReports(Store& store) : store_{store} {}

  std::unique_ptr<ReportHold> hold(ReportId report) override;
  RecoveryReport complete(const ReportHead& head, const RecoveryReport& end) override;
  std::vector<RecoveryReport> newest(int count, int tasks_of_each) override;
  RecoveryTotals totals() override;

 private:
  Store& store_;
};

}  // namespace holdfast::postgres
