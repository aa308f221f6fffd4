#pragma once

#include <functional>
#include <stop_token>

#include "cli/context.hpp"

namespace holdfast::cli {

/// Prints a report as JSON or for people. What it quotes from handlers was made harmless when it
/// was put into words.
void print_report(const Context& context, const RecoveryReport& report);

/// Recovers and prints. Where leases are past their time by a clock that may have been set, it
/// looks again after they should have been renewed, unless `stop` is requested. Returns the last
/// report.
RecoveryReport recover_and_print(const Context& context,
                                 const std::function<RecoveryReport()>& recover,
                                 const std::stop_token& stop);

}  // namespace holdfast::cli
