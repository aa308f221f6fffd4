#pragma once

#include "recovery/expiry_watch.hpp"
#include "recovery/refusals.hpp"

namespace holdfast {

/// What the recoveries of one process remember of a kind of work from one run to the next.
struct RecoveryMemory {
  ExpiryWatch expiry;
  Refusals refusals;
};

}  // namespace holdfast
