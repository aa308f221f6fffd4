#pragma once

#include <string>

#include <holdfast/report.hpp>

namespace holdfast {

/// What was found when the store was opened, for people: a heading and a line for each thing.
std::string to_text(const StartUp& start_up, WallTime now);

/// `passed (quick, 1200 rows, 350 ms)`, for people.
std::string to_text(const IntegrityResult& result);

}  // namespace holdfast
