#pragma once

#include <algorithm>
#include <random>
#include <utility>

#include <holdfast/task.hpp>

namespace holdfast::rabbitmq {

/// Half of it to all of it, so that those who were cut off together do not return together.
inline Millis jittered(Millis time) {
  thread_local std::minstd_rand dice{std::random_device{}()};
  return time / 2 + Millis{std::uniform_int_distribution<Millis::rep>{0, time.count() / 2}(dice)};
}

/// The time between two connections. It doubles with each that did not last, however well it began:
/// a connection that is closed as soon as it is used is no success.
class Reconnecting {
 public:
  static constexpr Millis first{100}, longest{3'000}, lasting{10'000};

  /// A connection that lived for so long has ended (zero: it was never made). Returns how long to
  /// wait.
  Millis ended_after(Millis lived) {
    if (lived >= lasting) next_ = first;
    return jittered(std::exchange(next_, std::min(2 * next_, longest)));
  }

 private:
  Millis next_ = first;
};

}  // namespace holdfast::rabbitmq
