#include <fcntl.h>

#include <algorithm>

#include "crash/crash_test.hpp"
#include "engines/sqlite/side_files.hpp"
#include "recovery/file_lock.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::test {

std::string CrashTest::new_address(const TempStore& store) { return store.address(); }

bool CrashTest::being_written() const {
  auto lock = open_file(sqlite::SideFiles{store_.database()}.write_lock(), O_RDWR | O_CREAT);
  return is_locked(lock.get(), 0) || is_locked(lock.get(), 1);
}

std::vector<std::string_view> kill_points_of_engine() {
  // Requests, transactions and batches have tests of their own.
  constexpr std::string_view elsewhere[] = {"http",    "blob",  "step",    "outbox",
                                            "message", "batch", "liveness"};
  std::vector<std::string_view> points{kill_point_names.begin(), kill_point_names.end()};
  std::erase_if(points, [&](auto name) {
    return std::ranges::any_of(elsewhere, [&](auto part) { return name.starts_with(part); });
  });
  return points;
}

}  // namespace holdfast::test
