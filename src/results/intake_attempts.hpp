#pragma once

#include <holdfast/broker.hpp>
#include <holdfast/engine.hpp>

namespace holdfast::results {

/// How often taking one request began and the process ended meanwhile, in the store, as the
/// attempts of other messages are. A request belongs to no transaction yet, so each attempt is a
/// task that never runs: there while the attempt is under way, cancelled when it ended.
class IntakeAttempts {
 public:
  explicit IntakeAttempts(Engine engine) : engine_{std::move(engine)} {}

  /// One that comes for the first time has not failed before, and nothing is written for it.
  static bool is_suspect(const Delivery& delivery) { return delivery.deliveries() > 1; }
  /// Notes an attempt; durable when this returns. False: there were too many, and this is none.
  bool begin(Delivery& delivery) const;
  /// It ended: all attempts of this message are forgotten.
  void forget(Delivery& delivery) const;

  /// The process may be ended from outside meanwhile, so these are more than for other messages.
  static constexpr int most = 10;

 private:
  Engine engine_;
};

}  // namespace holdfast::results
