#include "tasks/time_zone.hpp"

#include <date/tz.h>

#include <stdexcept>

#include <fmt/format.h>
#include <holdfast/error.hpp>

namespace holdfast {

namespace {

WallTime to_wall(date::sys_seconds time) {
  // The last period of a zone ends beyond what milliseconds can count.
  constexpr date::sys_seconds far{std::chrono::hours{24 * 365 * 20'000LL}};
  return std::min(time, far);
}

/// The library reads its database once, too, but behind a guard that ThreadSanitizer cannot see.
void read_database() { [[maybe_unused]] static const auto& read = date::get_tzdb(); }

}  // namespace

TimeZone::TimeZone(const std::string& name) {
  try {
    read_database();
    zone_ = date::locate_zone(name);
  } catch (const std::runtime_error&) {
    throw InvalidRequest{fmt::format(
        "'{}' is not a time zone that this machine knows; write a name such as UTC or "
        "Europe/Berlin (they are the files in /usr/share/zoneinfo, from the package tzdata)",
        name)};
  }
}

LocalTime TimeZone::local(WallTime time) const {
  return time.time_since_epoch() + zone_->get_info(time).offset;
}

WallTime TimeZone::moment(LocalTime local) const {
  auto info = zone_->get_info(date::local_time<Millis>{local});
  // In a gap `first` ends where `second` begins. Where a time exists twice, the first offset is
  // that of its first time.
  if (info.result == date::local_info::nonexistent) return to_wall(info.first.end);
  return WallTime{local - info.first.offset};
}

WallTime TimeZone::even_until(WallTime time) const { return to_wall(zone_->get_info(time).end); }

}  // namespace holdfast
