#include "tasks/cron.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "recovery/plain_text.hpp"
#include "tasks/cron_field.hpp"

namespace holdfast {

namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::sys_days;

constexpr std::array<std::string_view, 12> month_names{"jan", "feb", "mar", "apr", "may", "jun",
                                                       "jul", "aug", "sep", "oct", "nov", "dec"};
// Sunday is 0 and 7.
constexpr std::array<std::string_view, 7> weekday_names{"sun", "mon", "tue", "wed",
                                                        "thu", "fri", "sat"};
constexpr CronField minute_field{"minute", 0, 59};
constexpr CronField hour_field{"hour", 0, 23};
constexpr CronField day_field{"day of the month", 1, 31};
constexpr CronField month_field{"month", 1, 12, month_names};
constexpr CronField weekday_field{"day of the week", 0, 7, weekday_names};

/// From one 29 February to the next it may take eight years.
constexpr days longest_search{366 * 9};

struct Nickname {
  std::string_view name, text;
};
constexpr Nickname nicknames[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

std::string_view without_nickname(std::string_view text) {
  for (const auto& nickname : nicknames)
    if (nickname.name == text) return nickname.text;
  return text;
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(blanks); at != text.npos;) {
    auto end = std::min(text.find_first_of(blanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(blanks, end);
  }
  return words;
}

template <std::size_t Size>
void fill(std::bitset<Size>& set, const CronField& field, std::string_view text) {
  for (int value : parse_cron_field(field, text)) set.set(static_cast<std::size_t>(value) % Size);
}

}  // namespace

Cron::Cron(std::string_view text) {
  auto words = words_of(without_nickname(text));
  if (words.size() != 5) {
    throw InvalidRequest{fmt::format(
        "the cron text '{}' has {} fields; write five (minute, hour, day of the month, month, day "
        "of the week), such as '30 2 * * mon-fri', or one of @hourly, @daily, @weekly, @monthly "
        "and @yearly",
        plain(text), words.size())};
  }
  fill(minutes_, minute_field, words[0]);
  fill(hours_, hour_field, words[1]);
  fill(days_, day_field, words[2]);
  fill(months_, month_field, words[3]);
  fill(weekdays_, weekday_field, words[4]);
  every_hour_ = words[1] == "*";
  any_day_ = words[2].starts_with('*');
  any_weekday_ = words[4].starts_with('*');
}

bool Cron::day_matches(sys_days day) const {
  std::chrono::year_month_day date{day};
  if (!months_[static_cast<unsigned>(date.month())]) return false;
  bool day_fits = days_[static_cast<unsigned>(date.day())];
  bool weekday_fits = weekdays_[std::chrono::weekday{day}.c_encoding()];
  // As cron has always done it: two restrictions are alternatives. A step on a `*` is no
  // restriction in this sense.
  if (any_day_ || any_weekday_) return day_fits && weekday_fits;
  return day_fits || weekday_fits;
}

std::optional<LocalTime> Cron::first_match(LocalTime local) const {
  auto first_day = floor<days>(local);
  for (auto day = first_day; day <= first_day + longest_search; day += days{1}) {
    if (!day_matches(sys_days{day})) continue;
    auto from = std::max(std::chrono::ceil<minutes>(local - day), minutes{0});
    for (auto hour = floor<hours>(from); hour < days{1}; hour += hours{1}) {
      if (!hours_[static_cast<std::size_t>(hour.count())]) continue;
      for (auto minute = std::max(from, minutes{hour}); minute < hour + hours{1};
           minute += minutes{1}) {
        if (minutes_[static_cast<std::size_t>((minute - hour).count())]) return day + minute;
      }
    }
  }
  return {};
}

std::optional<WallTime> Cron::next_by_elapsed_time(WallTime time, const TimeZone& zone) const {
  // From one change of the clock to the next it runs evenly, and each stretch is looked at by
  // itself: what the clock shows twice is there twice, what it skips is not there.
  auto from = time + Millis{1};
  auto give_up = time + longest_search;
  while (from < give_up) {
    auto end = zone.even_until(from);
    auto found = first_match(zone.local(from));
    if (!found) return {};
    auto moment = from + (*found - zone.local(from));
    if (moment < end) return moment;
    from = end;
  }
  return {};
}

std::optional<WallTime> Cron::next_by_the_clock(WallTime time, const TimeZone& zone) const {
  auto from = zone.local(time);
  while (auto found = first_match(from)) {
    auto moment = zone.moment(*found);
    if (moment > time) return moment;
    // This was its time already: the clock shows it a second time now, or it was in a gap.
    from = *found + minutes{1};
  }
  return {};
}

std::optional<WallTime> Cron::next_after(WallTime time, const TimeZone& zone) const {
  return every_hour_ ? next_by_elapsed_time(time, zone) : next_by_the_clock(time, zone);
}

}  // namespace holdfast
