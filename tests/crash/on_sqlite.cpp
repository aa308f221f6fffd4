#include <fcntl.h>

#include "crash/crash_test.hpp"
#include "engines/sqlite/side_files.hpp"
#include "recovery/file_lock.hpp"

namespace holdfast::test {

std::string CrashTest::new_address(const TempStore& store) { return store.address(); }

bool CrashTest::being_written() const {
  auto lock = open_file(sqlite::SideFiles{store_.database()}.write_lock(), O_RDWR | O_CREAT);
  return is_locked(lock.get(), 0) || is_locked(lock.get(), 1);
}

/// All but that of an engine for which the end of a task and what comes of it are two steps.
std::vector<std::string_view> kill_points_of_engine() {
  return kill_points_without({"dependents"});
}

}  // namespace holdfast::test
