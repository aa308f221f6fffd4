#include "recovery/backoff.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

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

bool is_default(const Backoff& backoff) {
  constexpr Backoff usual{};
  return backoff.first == usual.first && backoff.factor == usual.factor &&
         backoff.longest == usual.longest && backoff.jitter == usual.jitter;
}

std::string backoff_text(const Backoff& backoff) {
  return fmt::format("{} {} {} {}", backoff.first.count(), backoff.factor, backoff.longest.count(),
                     backoff.jitter);
}

Backoff parse_backoff(const std::string& text) {
  if (text.empty()) return {};
  long first = 0, longest = 0;
  Backoff backoff;
  if (std::sscanf(text.c_str(), "%ld %lf %ld %lf", &first, &backoff.factor, &longest,
                  &backoff.jitter) != 4) {
    return {};
  }
  backoff.first = Millis{first};
  backoff.longest = Millis{longest};
  return backoff;
}

}  // namespace holdfast
