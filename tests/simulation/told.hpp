#pragma once

#include <optional>

#include "simulation/history.hpp"

namespace holdfast::sim {

/// What was found in a history, how it came about, and how to see it again.
std::string to_text(const Told& told);

/// A number from the environment.
std::optional<std::uint64_t> number_from(const char* variable);

}  // namespace holdfast::sim
