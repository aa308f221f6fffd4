#pragma once

#include "recovery/clock.hpp"

namespace holdfast::sim {

/// Time in a history: moves only when the history says so.
class VirtualClock final : public Clock {
 public:
  static constexpr WallTime first_moment{Millis{1'767'225'600'000}};  // of 2026

  WallTime wall() const override { return wall_; }
  Millis steady() const override { return steady_; }

  void advance(Millis by) {
    wall_ += by;
    steady_ += by;
  }
  /// Somebody sets the wall clock, which must not matter to leases.
  void set_wall_by(Millis by) { wall_ += by; }
  void reset() { *this = {}; }

 private:
  WallTime wall_ = first_moment;
  Millis steady_{10'000'000};
};

}  // namespace holdfast::sim
