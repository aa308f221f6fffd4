#include "engines/sqlite/metrics_history.hpp"

namespace holdfast::sqlite {

namespace {

constexpr Writer::KillPoints history_points{KillPoint::history_before_commit,
                                            KillPoint::history_after_commit};

}  // namespace

void SqliteMetricsHistory::keep(std::span<const HistoryPoint> points,
                                std::span<const HistoryEnd> ends) {
  if (points.empty() && ends.empty()) return;
  store_.writer.write(history_points, [&](Connection& db) {
    auto put = db.use(
        "INSERT INTO holdfast_metrics (resolution, at, point) VALUES (?, ?, ?)"
        " ON CONFLICT DO NOTHING");
    for (const auto& point : points) put.bind(point.resolution_s, point.at, point.text).run();
    auto forget = db.use("DELETE FROM holdfast_metrics WHERE resolution = ? AND at < ?");
    for (const auto& end : ends) forget.bind(end.resolution_s, end.before).run();
  });
}

std::vector<HistoryPoint> SqliteMetricsHistory::read(int resolution_s, WallTime since,
                                                     WallTime until) {
  return store_.reader.read([&](Connection& db) {
    auto rows = db.use(
        "SELECT at, point FROM holdfast_metrics WHERE resolution = ? AND at >= ? AND at < ?"
        " ORDER BY at");
    rows.bind(resolution_s, since, until);
    std::vector<HistoryPoint> points;
    while (rows.step()) points.push_back({resolution_s, rows.time(0), rows.text(1)});
    return points;
  });
}

}  // namespace holdfast::sqlite
