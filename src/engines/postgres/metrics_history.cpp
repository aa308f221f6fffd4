#include "engines/postgres/metrics_history.hpp"

#include "engines/postgres/statements.hpp"

namespace holdfast::postgres {

void PostgresMetricsHistory::keep(std::span<const HistoryPoint> points,
                                  std::span<const HistoryEnd> ends) {
  if (points.empty() && ends.empty()) return;
  Array resolutions{Type::bigint}, times{Type::bigint}, texts{Type::text};
  for (const auto& point : points) {
    resolutions.add(point.resolution_s);
    times.add(point.at);
    texts.add(point.text);
  }
  store_.writer.write({KillPoint::history_before_commit, KillPoint::history_after_commit},
                      [&](Connection& db) {
                        db.queue(
                            "INSERT INTO hf.metrics (resolution, at, point) SELECT p.resolution,"
                            " p.at, p.point FROM unnest($1::bigint[], $2::bigint[], $3::text[])"
                            " AS p(resolution, at, point) ON CONFLICT DO NOTHING",
                            resolutions.value(), times.value(), texts.value());
                        for (const auto& end : ends)
                          db.queue("DELETE FROM hf.metrics WHERE resolution = $1 AND at < $2",
                                   end.resolution_s, end.before);
                      });
}

std::vector<HistoryPoint> PostgresMetricsHistory::read(int resolution_s, WallTime since,
                                                       WallTime until) {
  return store_.reader.answer([&](Connection& db) {
    auto rows = db.run(
        "SELECT at, point FROM hf.metrics WHERE resolution = $1 AND at >= $2 AND at < $3"
        " ORDER BY at",
        resolution_s, since, until);
    std::vector<HistoryPoint> points;
    while (rows.next()) points.push_back({resolution_s, rows.time(0), rows.text(1)});
    return points;
  });
}

}  // namespace holdfast::postgres
