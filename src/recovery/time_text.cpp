#include "recovery/time_text.hpp"

#include <fmt/format.h>

namespace holdfast {

namespace {

using namespace std::chrono;

/// Reads a text from left to right; the first thing that is not as expected spoils it all.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_{text} {}

  int digits(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return spoil();
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }
  bool next_is(std::string_view any_of) const {
    return !rest_.empty() && any_of.find(rest_.front()) != std::string_view::npos;
  }
  bool skip(std::string_view any_of) {
    if (!next_is(any_of)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(std::string_view any_of) {
    if (!skip(any_of)) spoil();
  }
  bool finished_well() const { return good_ && rest_.empty(); }

  Millis fraction() {
    int value = digits(1) * 100;
    if (next_is("0123456789")) value += digits(1) * 10;
    if (next_is("0123456789")) value += digits(1);
    while (skip("0123456789")) {
    }
    return Millis{value};
  }

  Millis zone_offset() {
    if (skip("Zz")) return Millis{0};
    int sign = next_is("-") ? -1 : 1;
    expect("+-");
    auto offset = hours{digits(2)};
    skip(":");
    return sign * duration_cast<Millis>(offset + minutes{digits(2)});
  }

 private:
  int spoil() {
    good_ = false;
    rest_ = {};
    return 0;
  }
  std::string_view rest_;
  bool good_ = true;
};

/// The two largest units, as in `3h 20m`; the smaller one is left out where it is zero.
std::string two_units(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
  if (small == 0) return fmt::format("{}{}", large, large_unit);
  return fmt::format("{}{} {}{}", large, large_unit, small, small_unit);
}

}  // namespace

std::string iso8601(WallTime time) {
  auto day = floor<days>(time);
  year_month_day date{day};
  hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::optional<WallTime> parse_iso8601(std::string_view text) {
  Reader reader{text};
  auto y = year{reader.digits(4)};
  reader.expect("-");
  auto m = month{static_cast<unsigned>(reader.digits(2))};
  reader.expect("-");
  year_month_day date{y, m, day{static_cast<unsigned>(reader.digits(2))}};
  reader.expect("Tt ");
  int hour = reader.digits(2);
  reader.expect(":");
  int minute = reader.digits(2);
  int second = reader.skip(":") ? reader.digits(2) : 0;
  auto fraction = reader.skip(".,") ? reader.fraction() : Millis{0};
  auto offset = reader.zone_offset();
  if (!reader.finished_well() || !date.ok()) return {};
  // A leap second (60) is the first moment of the next minute.
  if (hour > 23 || minute > 59 || second > 60 || abs(offset) >= hours{24}) return {};
  return WallTime{sys_days{date} + hours{hour} + minutes{minute} + seconds{second} + fraction -
                  offset};
}

std::string duration_text(Millis duration) {
  auto ms = duration.count();
  if (ms < 0) return "-" + duration_text(-duration);
  if (ms < 1'000) return fmt::format("{} ms", ms);
  if (ms < 60'000) {
    // Rounded down, so that 59.99 s is not shown as 60.0 s.
    auto tenths = ms / 100;
    if (tenths % 10 == 0) return fmt::format("{} s", tenths / 10);
    return fmt::format("{}.{} s", tenths / 10, tenths % 10);
  }
  auto total = ms / 1'000;
  if (total < 3'600) return two_units(total / 60, 'm', total % 60, 's');
  if (total < 86'400) return two_units(total / 3'600, 'h', total % 3'600 / 60, 'm');
  return two_units(total / 86'400, 'd', total % 86'400 / 3'600, 'h');
}

std::string age_text(WallTime time, WallTime now) {
  auto ago = now - time;
  auto size = abs(ago);
  if (size < 1s) return ago < Millis{0} ? "in a moment" : "just now";
  auto total = duration_cast<seconds>(size).count();
  std::string text = total < 60       ? fmt::format("{}s", total)
                     : total < 3'600  ? fmt::format("{}m", total / 60)
                     : total < 86'400 ? fmt::format("{}h", total / 3'600)
                                      : fmt::format("{}d", total / 86'400);
  return ago > Millis{0} ? text + " ago" : "in " + text;
}

}  // namespace holdfast
