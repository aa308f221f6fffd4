#pragma once

#include <string>

#include "engines/redis/connection.hpp"
#include "tasks/stretch.hpp"

namespace holdfast::redis {

/// Asks for a stretch of a list.
inline Command range_of(const std::string& key, Stretch stretch) {
  const auto last = stretch.is_bounded() ? stretch.skip + stretch.most - 1 : -1;
  return {"LRANGE", key, std::to_string(stretch.skip), std::to_string(last)};
}

}  // namespace holdfast::redis
