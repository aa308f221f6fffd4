#pragma once

#include <bitset>
#include <optional>
#include <string_view>

#include "tasks/time_zone.hpp"

namespace holdfast {

/// The times that a cron text names. What it may say is in holdfast/schedule.hpp.
class Cron {
 public:
  /// Throws `InvalidRequest` that names the field and what is allowed in it.
  explicit Cron(std::string_view text);

  /// The first time after `time`; nothing if there is none (30 February).
  std::optional<WallTime> next_after(WallTime time, const TimeZone& zone) const;

 private:
  /// The first minute at `local` or later that matches.
  std::optional<LocalTime> first_match(LocalTime local) const;
  bool day_matches(std::chrono::sys_days day) const;
  std::optional<WallTime> next_by_elapsed_time(WallTime time, const TimeZone& zone) const;
  std::optional<WallTime> next_by_the_clock(WallTime time, const TimeZone& zone) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<7> weekdays_;
  bool any_day_ = false, any_weekday_ = false, every_hour_ = false;
};

}  // namespace holdfast
