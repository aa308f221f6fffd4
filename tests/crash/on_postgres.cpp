#include "crash/crash_test.hpp"
#include "support/postgres_server.hpp"

namespace holdfast::test {

std::string CrashTest::new_address(const TempStore&) {
  return PostgresServer::shared().new_store();
}

/// What a session is still busy with may be the beginning of a transaction.
bool CrashTest::being_written() const {
  return PostgresServer::shared().ask(
             "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
             " AND pid <> pg_backend_pid() AND state <> 'idle'") != "0";
}

/// All but those of files, because a server mends its own, and of what this engine does not have.
std::vector<std::string_view> kill_points_of_engine() {
  return kill_points_without({"checkpoint", "evidence", "mend", "start_up", "close", "replace",
                              "backup", "made", "dependents"});
}

}  // namespace holdfast::test
