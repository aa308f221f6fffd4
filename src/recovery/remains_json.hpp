#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "recovery/worker_registry.hpp"

namespace holdfast {

/// What a dead worker left on its board, for a store that keeps it with the burial. Its evidence is
/// not part of it: that is kept for people, too.
std::string remains_json(const Remains& remains);
/// Nothing for a text that is not one of ours.
std::optional<Remains> remains_from_json(std::string_view text);

}  // namespace holdfast
