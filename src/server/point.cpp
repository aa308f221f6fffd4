#include "server/point.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "documents/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::server {

namespace {

constexpr std::array counts = {&Point::pending, &Point::running, &Point::blocked,
                               &Point::held,    &Point::failed,  &Point::workers};
constexpr std::array totals = {&Point::recoveries, &Point::stale_writes_refused};
constexpr std::array rates = {&Point::completed_per_s, &Point::failed_per_s, &Point::retried_per_s,
                              &Point::enqueued_per_s};
constexpr std::array percentiles = {&Point::p50_ms, &Point::p95_ms, &Point::p99_ms,
                                    &Point::wait_p50_ms, &Point::wait_p95_ms};
/// Of each histogram in a text.
constexpr std::size_t most_buckets = 24;
constexpr std::string_view version = "1";

std::string optional_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = std::min(text.find(at), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end) return {};
  return value;
}

}  // namespace

void Point::set_percentiles(const TimeHistogram& run_times, const TimeHistogram& wait_times) {
  p50_ms = run_times.percentile_ms(0.5);
  p95_ms = run_times.percentile_ms(0.95);
  p99_ms = run_times.percentile_ms(0.99);
  wait_p50_ms = wait_times.percentile_ms(0.5);
  wait_p95_ms = wait_times.percentile_ms(0.95);
}

std::string point_json(const Point& point) {
  return JsonObject{}
      .text("at", iso8601(point.at))
      .number("pending", point.pending)
      .number("running", point.running)
      .number("blocked", point.blocked)
      .number("held", point.held)
      .number("failed", point.failed)
      .number("workers", point.workers)
      .fraction("completed_per_s", point.completed_per_s)
      .fraction("failed_per_s", point.failed_per_s)
      .fraction("retried_per_s", point.retried_per_s)
      .fraction("enqueued_per_s", point.enqueued_per_s)
      .json("p50_ms", optional_number(point.p50_ms))
      .json("p95_ms", optional_number(point.p95_ms))
      .json("p99_ms", optional_number(point.p99_ms))
      .json("wait_p50_ms", optional_number(point.wait_p50_ms))
      .json("wait_p95_ms", optional_number(point.wait_p95_ms))
      .number("recoveries", point.recoveries)
      .number("stale_writes_refused", point.stale_writes_refused)
      .str();
}

std::string point_text(const Point& point) {
  std::vector<std::string> values;
  for (auto part : counts) values.push_back(std::to_string(point.*part));
  for (auto part : totals) values.push_back(std::to_string(point.*part));
  for (auto part : rates) values.push_back(fmt::format("{:.4g}", point.*part));
  for (auto part : percentiles)
    values.push_back(point.*part ? fmt::format("{:.4g}", *(point.*part)) : "-");
  return fmt::format("{}|{}|{}|{}", version, fmt::join(values, " "), point.run.text(most_buckets),
                     point.wait.text(most_buckets));
}

std::optional<Point> parse_point(WallTime at, std::string_view text) {
  const auto parts = split(text, '|');
  if (parts.size() != 4 || parts[0] != version) return {};
  const auto values = split(parts[1], ' ');
  if (values.size() != counts.size() + totals.size() + rates.size() + percentiles.size()) return {};
  Point point{.at = at};
  auto value = values.begin();
  for (auto part : counts) point.*part = number<std::int64_t>(*value++).value_or(0);
  for (auto part : totals) point.*part = number<std::int64_t>(*value++).value_or(0);
  for (auto part : rates) point.*part = number<double>(*value++).value_or(0);
  for (auto part : percentiles) point.*part = number<double>(*value++);
  point.run = TimeHistogram::parse(parts[2]);
  point.wait = TimeHistogram::parse(parts[3]);
  return point;
}

Point average(const std::vector<Point>& points) {
  Point sum = points.back();
  const auto count = static_cast<std::int64_t>(points.size());
  for (auto part : counts) {
    std::int64_t total = 0;
    for (const auto& point : points) total += point.*part;
    sum.*part = (total + count / 2) / count;
  }
  for (auto part : rates) {
    double total = 0;
    for (const auto& point : points) total += point.*part;
    sum.*part = total / static_cast<double>(count);
  }
  sum.run = sum.wait = {};
  for (const auto& point : points) {
    sum.run.add(point.run);
    sum.wait.add(point.wait);
  }
  sum.set_percentiles(sum.run, sum.wait);
  return sum;
}

}  // namespace holdfast::server
