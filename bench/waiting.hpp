#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace holdfast::bench {

/// Looks every 0.2 ms until `condition` holds; throws, naming `what`, after half a minute.
void wait_until(const std::string& what, const std::function<bool()>& condition);

/// Lets time pass: for measures of what happens when nothing happens.
void pass(std::chrono::milliseconds time);

}  // namespace holdfast::bench
