#include "recovery/backoff.hpp"

#include <algorithm>
#include <cmath>

namespace holdfast {

Millis backoff_delay(const Backoff& backoff, int failing_attempt, double random01) {
  const auto longest = static_cast<double>(backoff.longest.count());
  const int growths = std::max(failing_attempt, 1) - 1;
  // A large power is infinite, which is fine: it is more than the longest.
  double delay = static_cast<double>(backoff.first.count()) * std::pow(backoff.factor, growths);
  delay = std::clamp(delay, 0.0, std::max(longest, 0.0));
  delay *= 1.0 + backoff.jitter * (2.0 * random01 - 1.0);
  return Millis{std::max<std::int64_t>(std::llround(delay), 0)};
}

}  // namespace holdfast
