#pragma once

#include <atomic>

#include "recovery/clock.hpp"

namespace holdfast::test {

/// A clock that stands still until a test moves it, so that leases and schedules can be tested
/// without waiting. Safe to read and move from several threads.
class ManualClock final : public Clock {
 public:
  WallTime wall() const override { return WallTime{Millis{wall_}}; }
  Millis steady() const override { return Millis{steady_}; }

  void advance(Millis by) {
    wall_ += by.count();
    steady_ += by.count();
  }
  /// Somebody sets the clock of a server whose leases end by it.
  void set_back(Millis by) { advance(-by); }
  /// The wall clock is set anew; leases must not care.
  void jump_wall(Millis by) { wall_ += by.count(); }

 private:
  std::atomic<std::int64_t> wall_{1'767'225'600'000};  // the first moment of 2026
  std::atomic<std::int64_t> steady_{10'000'000};
};

}  // namespace holdfast::test
