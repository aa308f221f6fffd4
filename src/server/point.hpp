#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/task.hpp>

namespace holdfast::server {

/// How a store was at one time, or on average over a while until then.
struct Point {
  WallTime at{};
  std::int64_t pending = 0;
  std::int64_t running = 0;
  std::int64_t blocked = 0;
  std::int64_t held = 0;
  std::int64_t failed = 0;
  std::int64_t workers = 0;
  double completed_per_s = 0;
  double failed_per_s = 0;
  double enqueued_per_s = 0;
  std::optional<double> p50_ms{};  ///< from claim to end; nothing: none was seen to end
  std::optional<double> p95_ms{};
  std::optional<double> p99_ms{};
  std::int64_t recoveries = 0;
  std::int64_t stale_writes_refused = 0;
};
std::string point_json(const Point& point);
Point point_from_json(std::string_view json);

/// One point for several; there is at least one. Counters are those of the last, percentiles the
/// worst.
Point average(const std::vector<Point>& points);

}  // namespace holdfast::server
