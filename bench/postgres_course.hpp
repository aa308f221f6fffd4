#pragma once

#include <string>

namespace holdfast::bench {

/// Runs `total` tasks through one store without a pause, finished ones being removed on the way,
/// and prints how long a step takes that ends a thousand tasks and claims the next thousand, for
/// each tenth of the way. Returns 1 if the last tenth is twice as slow as the second.
int run_course(const std::string& address, int total);

}  // namespace holdfast::bench
