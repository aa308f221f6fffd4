#pragma once

#include <string>

#include <holdfast/task.hpp>

namespace holdfast::http {

/// A host that kept failing and is left alone for a while.
struct LeftAlone {
  std::string host{};  ///< with its port, unless that is the usual one
  WallTime until{};
  int failures = 0;   ///< in a row
  std::string why{};  ///< how the last one failed
};

}  // namespace holdfast::http
