#pragma once

#include "engines/postgres/store.hpp"
#include "tasks/metrics_history.hpp"

namespace holdfast::postgres {

class PostgresMetricsHistory final : public MetricsHistory {
 public:
  explicit PostgresMetricsHistory(Store& store) : store_{store} {}

  void keep(std::span<const HistoryPoint> points, std::span<const HistoryEnd> ends) override;
  std::vector<HistoryPoint> read(int resolution_s, WallTime since, WallTime until) override;

 private:
  Store& store_;
};

}  // namespace holdfast::postgres
