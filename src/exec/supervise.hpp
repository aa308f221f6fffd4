#pragma once

#include <chrono>
#include <stop_token>

#include "exec/child_process.hpp"
#include "exec/output.hpp"

namespace holdfast {

/// Waits until `child` has ended and hands what it says to `output` meanwhile. When stop is
/// requested the whole group gets SIGTERM, and after `grace` SIGKILL.
Ending supervise(ChildProcess& child, std::stop_token stop, std::chrono::milliseconds grace,
                 Output& output);

}  // namespace holdfast
