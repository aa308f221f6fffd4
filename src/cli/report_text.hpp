#pragma once

#include "cli/context.hpp"

namespace holdfast::cli {

/// Prints a report as JSON or for people. What it quotes from handlers was made harmless when it
/// was put into words.
void print_report(const Context& context, const RecoveryReport& report);

}  // namespace holdfast::cli
