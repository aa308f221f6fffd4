#include "engines/redis/metrics_history.hpp"

#include <fmt/format.h>

namespace holdfast::redis {

namespace {

std::int64_t number(WallTime time) { return time.time_since_epoch().count(); }

}  // namespace

void RedisMetricsHistory::keep(std::span<const HistoryPoint> points,
                               std::span<const HistoryEnd> ends) {
  if (points.empty() && ends.empty()) return;
  auto arguments = store_.arguments();
  arguments.add(points.size());
  for (const auto& point : points)
    arguments.add(point.resolution_s).add(number(point.at)).add(point.text);
  arguments.add(ends.size());
  for (const auto& end : ends) arguments.add(end.resolution_s).add(number(end.before));
  store_.run({KillPoint::history_before_commit, KillPoint::history_after_commit},
             scripts::continue_history, arguments);
}

std::vector<HistoryPoint> RedisMetricsHistory::read(int resolution_s, WallTime since,
                                                    WallTime until) {
  const auto rows =
      store_.server.call({"ZRANGEBYSCORE", store_.keys.key(fmt::format("metrics:{}", resolution_s)),
                          std::to_string(number(since)), fmt::format("({}", number(until))});
  std::vector<HistoryPoint> points;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto parts = split(rows[i].text(), 2);
    points.push_back({resolution_s, wall_time(parse_number(parts[0])), std::move(parts[1])});
  }
  return points;
}

}  // namespace holdfast::redis
