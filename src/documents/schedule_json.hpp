#pragma once

#include <string>

#include <holdfast/schedule.hpp>

namespace holdfast {

/// The documented JSON of a schedule.
std::string schedule_json(const Schedule& schedule);

}  // namespace holdfast
