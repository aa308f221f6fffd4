#pragma once

#include <string>

#include <holdfast/task.hpp>

namespace date {
class time_zone;
}

namespace holdfast {

/// What a clock on the wall shows, in milliseconds since its 1970 began.
using LocalTime = Millis;

/// A zone of the IANA database of this machine. A cheap handle.
class TimeZone {
 public:
  /// Throws `InvalidRequest` for a name that is not in the database.
  explicit TimeZone(const std::string& name);

  LocalTime local(WallTime time) const;
  /// The moment at which the clock shows `local`: the first of two, and the end of the gap if the
  /// clock skips it.
  WallTime moment(LocalTime local) const;
  /// Until when (exclusive) the clock runs evenly from `time` on.
  WallTime even_until(WallTime time) const;

 private:
  const date::time_zone* zone_;
};

}  // namespace holdfast
