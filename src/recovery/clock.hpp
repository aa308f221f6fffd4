#pragma once

#include <string>

#include <holdfast/task.hpp>

namespace holdfast {

/// The two clocks that decisions read. Tests and the simulation bring their own.
class Clock {
 public:
  virtual ~Clock() = default;
  /// For people and schedules. May jump.
  virtual WallTime wall() const = 0;
  /// For leases and deadlines on this host: milliseconds that never jump and stand still while the
  /// machine sleeps, so a suspended laptop does not find its leases expired.
  virtual Millis steady() const = 0;
};

/// The machine's clocks.
const Clock& system_clock();

/// Names the run of the clock that `steady` reads: boot id and time namespace. Steady times of
/// different domains cannot be compared.
std::string clock_domain();
/// The boot id in it where the system does not tell.
inline constexpr const char* unknown_boot = "unknown-boot";

}  // namespace holdfast
