#pragma once

#include <stop_token>

#include <holdfast/integrity.hpp>

#include "engines/redis/store.hpp"

namespace holdfast::redis {

/// Compares tasks with the indexes that lead to them, in portions, while everybody goes on working.
/// A quick check looks at the newest tasks only.
IntegrityResult check_integrity(Store& store, bool full, std::stop_token stop);

}  // namespace holdfast::redis
