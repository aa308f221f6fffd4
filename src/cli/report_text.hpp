#pragma once

#include "cli/context.hpp"

namespace holdfast::cli {

/// Prints a report as JSON or for people. What it quotes from dead workers and from handlers is
/// made harmless first.
void print_report(const Context& context, const RecoveryReport& report);

}  // namespace holdfast::cli
