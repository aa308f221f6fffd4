#include "recovery/clock.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

namespace holdfast {

namespace {

/// In builds for tests a process may be told that its wall clock is wrong, by milliseconds.
Millis wall_clock_error() {
#ifdef HOLDFAST_KILL_POINTS
  static const char* const given = std::getenv("HOLDFAST_WALL_CLOCK_ERROR");
  if (given) return Millis{std::atoll(given)};
#endif
  return Millis{0};
}

class SystemClock final : public Clock {
 public:
  WallTime wall() const override {
    return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now()) +
           wall_clock_error();
  }
  Millis steady() const override {
    // CLOCK_MONOTONIC: does not count the time that the machine was suspended.
    return std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now().time_since_epoch());
  }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

std::string clock_domain() {
  std::string boot = unknown_boot;
  std::ifstream{"/proc/sys/kernel/random/boot_id"} >> boot;
  struct stat time_namespace {};
  if (::stat("/proc/self/ns/time", &time_namespace) != 0) return boot;
  return fmt::format("{}/{}", boot, time_namespace.st_ino);
}

}  // namespace holdfast
