#pragma once

#include <string>
#include <string_view>

#include <holdfast/schedule.hpp>

namespace holdfast {

/// The options of a schedule's task as JSON, for stores: all that may be set there, and nothing
/// that is of a single task (id, time, dependencies).
std::string options_text(const TaskOptions& options);
/// Throws some std::exception if the text is not one of ours.
TaskOptions parse_options(std::string_view text);

}  // namespace holdfast
