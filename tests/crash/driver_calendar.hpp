#pragma once

#include <holdfast/engine.hpp>

#include "recovery/clock.hpp"
#include "support/journal.hpp"

namespace holdfast::test {

/// A wall clock that runs `speed` times as fast as the real one since `origin`, the same in every
/// process that is told the same.
class FastClock final : public Clock {
 public:
  FastClock(WallTime origin, int speed) : origin_{origin}, speed_{speed} {}
  WallTime wall() const override { return origin_ + (system_clock().wall() - origin_) * speed_; }
  Millis steady() const override { return system_clock().steady(); }

 private:
  WallTime origin_;
  int speed_;
};

/// Adds a schedule whose time has come, and that will have none again for long.
void plan(const Engine& engine);
/// Fires what is due, and says so in the journal.
void fire_what_is_due(const Engine& engine, const Journal& journal);
/// Runs a worker on a fast clock, with a schedule for every minute of it, until it is killed.
void keep_a_fast_calendar(const std::string& database, const Settings& settings, WallTime origin,
                          int speed, const Journal& journal);

}  // namespace holdfast::test
