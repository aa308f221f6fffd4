#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/redis/store.hpp"

namespace holdfast::redis {

/// Tasks in the list of a lane (see `fresh` in keys.hpp). Some of them may have left it by another
/// way than a claim. None is missed while others insert and claim.
std::vector<std::string> fresh_ids(Store& store, const std::string& lane);

/// Since when the first task of that list waits that still is there.
std::optional<WallTime> oldest_fresh(Store& store, const std::string& lane);

}  // namespace holdfast::redis
