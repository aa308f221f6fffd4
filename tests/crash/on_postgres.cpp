#include <algorithm>

#include "crash/crash_test.hpp"
#include "recovery/kill_point.hpp"
#include "support/postgres_server.hpp"

namespace holdfast::test {

std::string CrashTest::new_address(const TempStore&) {
  return PostgresServer::shared().new_store();
}

bool CrashTest::being_written() const {
  return PostgresServer::shared().ask(
             "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'") !=
         "0";
}

/// All but those of files, because a server mends its own, and of what this engine does not have.
std::vector<std::string_view> kill_points_of_engine() {
  constexpr std::string_view absent[] = {
      "checkpoint", "evidence", "mend", "start_up", "close",   "replace", "backup",  "made",
      "http",       "blob",     "step", "outbox",   "message", "batch",   "liveness"};
  std::vector<std::string_view> points;
  for (auto name : kill_point_names)
    if (std::ranges::none_of(absent, [&](auto part) { return name.starts_with(part); }))
      points.push_back(name);
  return points;
}

}  // namespace holdfast::test
