#pragma once

#include <atomic>

#include "recovery/clock.hpp"

namespace holdfast::postgres {

/// The wall clock of the server, as well as it is known here: what is due is decided by that clock,
/// so who waits for it must not go by its own, which may be an hour off.
class ServerClock final : public Clock {
 public:
  explicit ServerClock(const Clock& own) : own_{own} {}

  WallTime wall() const override { return own_.wall() + Millis{ahead_}; }
  Millis steady() const override { return own_.steady(); }

  /// The server said that it was `server` there when it was `here` on our clock.
  void learn(WallTime server, WallTime here) { ahead_ = (server - here).count(); }
  WallTime own_wall() const { return own_.wall(); }

 private:
  const Clock& own_;
  std::atomic<std::int64_t> ahead_{0};
};

}  // namespace holdfast::postgres
