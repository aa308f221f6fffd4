#pragma once

#include <algorithm>
#include <atomic>

#include "recovery/expiry_watch.hpp"
#include "recovery/refusals.hpp"

namespace holdfast {

/// What the recoveries of one process remember of a kind of work from one run to the next.
struct RecoveryMemory {
  ExpiryWatch expiry;
  /// The same of workers of another make, and of what nobody claimed.
  ExpiryWatch others;
  std::atomic<std::int64_t> others_waiting{0};  ///< of them, for a second look
  Refusals refusals;

  Millis look_again() const { return std::min(expiry.look_again(), others.look_again()); }
};

}  // namespace holdfast
