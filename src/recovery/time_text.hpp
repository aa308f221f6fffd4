#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <holdfast/task.hpp>

namespace holdfast {

/// `2024-01-15T10:30:00.000Z`: UTC, always with milliseconds.
std::string iso8601(WallTime time);

/// Reads what `iso8601` writes, and what people write: the fraction may be missing or of any
/// length, a blank may stand for the T, seconds may be missing, and the zone may be `Z` or an
/// offset such as `+02:00`. Without a zone it is nothing, because it could mean any of two times.
std::optional<WallTime> parse_iso8601(std::string_view text);

/// For people: `350 ms`, `1.2 s`, `5m 30s`, `3h 20m`, `4d 2h`.
std::string duration_text(Millis duration);

/// For people: `5m ago`, `in 20s`, `just now`, `in a moment`.
std::string age_text(WallTime time, WallTime now);

}  // namespace holdfast
