#pragma once

#include "engines/redis/store.hpp"
#include "recovery/reports.hpp"

namespace holdfast::redis {

class RedisReports final : public Reports {
 public:
  explicit RedisReports(Store& store) : store_{store} {}

  std::unique_ptr<ReportHold> hold(ReportId report) override;
  RecoveryReport complete(const ReportHead& head, const RecoveryReport& end) override;
  std::vector<RecoveryReport> newest(int count, int tasks_of_each) override;
  RecoveryTotals totals() override;

 private:
  std::optional<RecoveryReport> read(const std::string& id, int tasks);
  std::optional<bool> is_held(ReportId report);  ///< nothing: this user may not ask

  Store& store_;
};

}  // namespace holdfast::redis
