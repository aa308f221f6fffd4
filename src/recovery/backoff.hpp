#pragma once

#include <string>
#include <string_view>

#include <holdfast/task.hpp>

namespace holdfast {

/// How long to wait after failing attempt number `failing_attempt` (1 is the first).
/// `random01` in [0, 1) spreads it within the jitter; the same number gives the same delay.
Millis backoff_delay(const Backoff& backoff, int failing_attempt, double random01);

/// How stores keep it: as text, and not at all if it is the default.
bool is_default(const Backoff& backoff);
std::string backoff_text(const Backoff& backoff);
/// What is not the text of one is the default.
Backoff parse_backoff(std::string_view text);

}  // namespace holdfast
