#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include <holdfast/limit.hpp>

namespace holdfast {

/// The documented JSON of a limit and of what uses it: the first `most_uses`, by name.
std::string limit_json(const LimitStatus& status,
                       std::size_t most_uses = std::numeric_limits<std::size_t>::max());

}  // namespace holdfast
