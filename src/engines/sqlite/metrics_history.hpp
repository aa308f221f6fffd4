#pragma once

#include "engines/sqlite/store.hpp"
#include "tasks/metrics_history.hpp"

namespace holdfast::sqlite {

class SqliteMetricsHistory final : public MetricsHistory {
 public:
  explicit SqliteMetricsHistory(Store& store) : store_{store} {}

  void keep(std::span<const HistoryPoint> points, std::span<const HistoryEnd> ends) override;
  std::vector<HistoryPoint> read(int resolution_s, WallTime since, WallTime until) override;

 private:
  Store& store_;
};

}  // namespace holdfast::sqlite
