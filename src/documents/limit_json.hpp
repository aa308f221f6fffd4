#pragma once

#include <string>

#include <holdfast/limit.hpp>

namespace holdfast {

/// The documented JSON of a limit and of what uses it.
std::string limit_json(const LimitStatus& status);

}  // namespace holdfast
