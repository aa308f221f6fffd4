#pragma once

#include "cli/command.hpp"

namespace holdfast::cli {

/// `dead-letters` with `list`, `show`, `replay` and `discard`.
void add_results_dead_letters(CLI::App& parent, Context& context);

}  // namespace holdfast::cli
