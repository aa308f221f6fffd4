#include <atomic>
#include <cstdlib>

#include <fmt/format.h>

#include "crash/crash_test.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {

namespace {

std::string server_address() {
#ifdef HOLDFAST_REDIS_CLUSTER
  return shared_redis_cluster().whole_address();
#else
  return shared_lasting_redis().address();
#endif
}

}  // namespace

std::string CrashTest::new_address(const TempStore& store) {
  static std::atomic<int> stores{0};
  ::setenv("XDG_RUNTIME_DIR", store.folder().c_str(), 1);
  return fmt::format("{}?prefix=crash-{}", server_address(), ++stores);
}

/// A script is over before anybody could be stopped in it.
bool CrashTest::being_written() const { return false; }

/// All but those of files and of what this engine does not have.
std::vector<std::string_view> kill_points_of_engine() {
  return kill_points_without({"checkpoint", "evidence", "mend", "start_up", "close", "replace",
                              "backup", "schema", "made", "own_complete"});
}

}  // namespace holdfast::test
