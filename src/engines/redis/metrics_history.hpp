#pragma once

#include "engines/redis/store.hpp"
#include "tasks/metrics_history.hpp"

namespace holdfast::redis {

class RedisMetricsHistory final : public MetricsHistory {
 public:
  explicit RedisMetricsHistory(Store& store) : store_{store} {}

  void keep(std::span<const HistoryPoint> points, std::span<const HistoryEnd> ends) override;
  std::vector<HistoryPoint> read(int resolution_s, WallTime since, WallTime until) override;

 private:
  Store& store_;
};

}  // namespace holdfast::redis
