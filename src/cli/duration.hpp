#pragma once

#include <string>

#include <holdfast/task.hpp>

namespace holdfast::cli {

/// Reads `250ms`, `10s`, `5m`, `2h`, `1d` or several of them together (`1h30m`). Throws
/// `InvalidRequest` that names `option` and what is allowed.
Millis parse_duration(const std::string& text, const std::string& option);

/// Reads a time with its zone, such as 2026-03-01T12:00:00Z. Throws like `parse_duration`.
WallTime parse_time(const std::string& text, const std::string& option);

/// A time, or how long ago: `2h` is two hours before `now`.
WallTime parse_since(const std::string& text, const std::string& option, WallTime now);

}  // namespace holdfast::cli
