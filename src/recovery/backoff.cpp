#include "recovery/backoff.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace holdfast {

namespace {

/// Of numbers with a space between them, the first one.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc{}) return false;
  text = {read.ptr, end};
  if (text.starts_with(' ')) text.remove_prefix(1);
  return true;
}

}  // namespace

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

Backoff parse_backoff(std::string_view text) {
  Backoff backoff;
  std::int64_t first = 0, longest = 0;
  const bool read = take_number(text, first) && take_number(text, backoff.factor) &&
                    take_number(text, longest) && take_number(text, backoff.jitter);
  if (!read || !text.empty()) return {};
  backoff.first = Millis{first};
  backoff.longest = Millis{longest};
  return backoff;
}

}  // namespace holdfast
