#include "cli/duration.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct Unit {
  std::string_view name;
  double millis;
};
// `ms` before `m`, because the first that fits is taken.
constexpr Unit units[] = {
    {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};

constexpr double longest = 100.0 * 365 * 86'400'000;

std::optional<Millis> read_duration(std::string_view rest) {
  double total = 0;
  if (rest.empty()) return {};
  while (!rest.empty()) {
    double number = 0;
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
    if (error != std::errc{} || !(number >= 0) || std::signbit(number)) return {};
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const Unit* found = nullptr;
    for (const Unit& unit : units)
      if (found == nullptr && rest.starts_with(unit.name)) found = &unit;
    if (found == nullptr) return {};
    rest.remove_prefix(found->name.size());
    total += number * found->millis;
    if (!(total <= longest)) return {};
  }
  return Millis{std::llround(total)};
}

}  // namespace

Millis parse_duration(const std::string& text, const std::string& option) {
  if (const auto duration = read_duration(text)) return *duration;
  throw InvalidRequest{fmt::format(
      "{} is '{}', which is not a duration; write a number and its unit, such as 250ms, 10s, 5m, "
      "2h, 1d or 1h30m, at most 100 years",
      option, text)};
}

WallTime parse_time(const std::string& text, const std::string& option) {
  if (const auto time = parse_iso8601(text)) return *time;
  throw InvalidRequest{fmt::format(
      "{} is '{}', which is not a time; write it with its zone, such as 2026-03-01T12:00:00Z or "
      "2026-03-01T13:00+01:00",
      option, text)};
}

WallTime parse_since(const std::string& text, const std::string& option, WallTime now) {
  if (const auto time = parse_iso8601(text)) return *time;
  if (const auto age = read_duration(text)) return now - *age;
  throw InvalidRequest{fmt::format(
      "{} is '{}'; write a time such as 2026-03-01T12:00:00Z, or how long ago, such as 2h", option,
      text)};
}

}  // namespace holdfast::cli
