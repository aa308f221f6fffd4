#pragma once

#include <string>
#include <string_view>

#include <holdfast/events.hpp>

#include "documents/json.hpp"

namespace holdfast {

/// What every line of a log in JSON begins with. `event` is a name that programs can rely on,
/// `message` a sentence for people.
JsonObject log_line_json(WallTime at, Severity severity, std::string_view event,
                         std::string_view message);

/// The line of an event: the same, and what it is about in members of its own.
JsonObject log_json(const Event& event, WallTime at);

}  // namespace holdfast
