#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/task.hpp>

#include "tasks/time_histogram.hpp"

namespace holdfast::server {

/// How a store was at one time, or on average over a while from then on.
struct Point {
  WallTime at{};
  std::int64_t pending = 0;
  std::int64_t running = 0;
  std::int64_t blocked = 0;
  std::int64_t held = 0;
  std::int64_t failed = 0;
  std::int64_t workers = 0;
  std::int64_t recoveries = 0;
  std::int64_t stale_writes_refused = 0;
  double completed_per_s = 0;
  double failed_per_s = 0;
  double retried_per_s = 0;
  double enqueued_per_s = 0;
  std::optional<double> p50_ms{};  ///< in the handler; nothing: no worker told of any lately
  std::optional<double> p95_ms{};
  std::optional<double> p99_ms{};
  std::optional<double> wait_p50_ms{};  ///< from being ready until the claim
  std::optional<double> wait_p95_ms{};
  TimeHistogram run{};  ///< what workers told in this time
  TimeHistogram wait{};

  void set_percentiles(const TimeHistogram& run_times, const TimeHistogram& wait_times);
};
std::string point_json(const Point& point);

/// As it is kept in stores: at most `longest_point_text` bytes, because histograms with many
/// different times are kept more coarsely.
inline constexpr std::size_t longest_point_text = 1'000;
std::string point_text(const Point& point);
/// Nothing if it is not what `point_text` wrote: another version of the program did.
std::optional<Point> parse_point(WallTime at, std::string_view text);

/// One point for several; there is at least one. Counters are those of the last, percentiles those
/// of all times together.
Point average(const std::vector<Point>& points);

}  // namespace holdfast::server
