#pragma once

#include <holdfast/task.hpp>

namespace holdfast {

/// How long to wait after failing attempt number `failing_attempt` (1 is the first).
/// `random01` in [0, 1) spreads it within the jitter; the same number gives the same delay.
Millis backoff_delay(const Backoff& backoff, int failing_attempt, double random01);

}  // namespace holdfast
