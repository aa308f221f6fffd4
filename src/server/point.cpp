#include "server/point.hpp"

#include <fmt/format.h>

#include "documents/json.hpp"
#include "recovery/time_text.hpp"
#include "server/fields.hpp"

namespace holdfast::server {

namespace {

std::string optional_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::int64_t whole(const Fields& fields, std::string_view name) {
  return fields.number(name, INT64_MIN, INT64_MAX).value_or(0);
}

void keep_larger(std::optional<double>& kept, const std::optional<double>& other) {
  if (other && (!kept || *other > *kept)) kept = other;
}

}  // namespace

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
      .fraction("enqueued_per_s", point.enqueued_per_s)
      .json("p50_ms", optional_number(point.p50_ms))
      .json("p95_ms", optional_number(point.p95_ms))
      .json("p99_ms", optional_number(point.p99_ms))
      .number("recoveries", point.recoveries)
      .number("stale_writes_refused", point.stale_writes_refused)
      .str();
}

Point point_from_json(std::string_view json) {
  const Fields fields{json};
  Point point;
  point.at = parse_iso8601(fields.required_text("at")).value_or(WallTime{});
  point.pending = whole(fields, "pending");
  point.running = whole(fields, "running");
  point.blocked = whole(fields, "blocked");
  point.held = whole(fields, "held");
  point.failed = whole(fields, "failed");
  point.workers = whole(fields, "workers");
  point.completed_per_s = fields.fraction("completed_per_s").value_or(0);
  point.failed_per_s = fields.fraction("failed_per_s").value_or(0);
  point.enqueued_per_s = fields.fraction("enqueued_per_s").value_or(0);
  point.p50_ms = fields.fraction("p50_ms");
  point.p95_ms = fields.fraction("p95_ms");
  point.p99_ms = fields.fraction("p99_ms");
  point.recoveries = whole(fields, "recoveries");
  point.stale_writes_refused = whole(fields, "stale_writes_refused");
  return point;
}

Point average(const std::vector<Point>& points) {
  Point sum = points.back();
  const auto count = static_cast<std::int64_t>(points.size());
  for (auto part : {&Point::pending, &Point::running, &Point::blocked, &Point::held, &Point::failed,
                    &Point::workers}) {
    std::int64_t total = 0;
    for (const auto& point : points) total += point.*part;
    sum.*part = (total + count / 2) / count;
  }
  for (auto part : {&Point::completed_per_s, &Point::failed_per_s, &Point::enqueued_per_s}) {
    double total = 0;
    for (const auto& point : points) total += point.*part;
    sum.*part = total / static_cast<double>(count);
  }
  for (auto part : {&Point::p50_ms, &Point::p95_ms, &Point::p99_ms})
    for (const auto& point : points) keep_larger(sum.*part, point.*part);
  return sum;
}

}  // namespace holdfast::server
