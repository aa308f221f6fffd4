#pragma once

#include <optional>
#include <string_view>

#include <holdfast/task.hpp>

namespace holdfast::http {

/// How long a server asks to wait: a number of seconds, or a date as HTTP writes it. Nothing where
/// it says neither, or asks for no wait: all attempts would be used up at once, so the back-off
/// counts then. At most a day.
std::optional<Millis> parse_retry_after(std::string_view text, WallTime now);

}  // namespace holdfast::http
