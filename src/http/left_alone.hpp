#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/task.hpp>

#include "http/url.hpp"

namespace holdfast::http {

/// A host that kept failing and is left alone for a while.
struct LeftAlone {
  std::string host{};  ///< see `host_text`
  WallTime until{};
  int failures = 0;   ///< in a row
  std::string why{};  ///< how the last one failed
};

/// With its port, unless that is the usual one.
std::string host_text(const Origin& origin);

/// What a processor tells of itself with its heartbeats.
struct Standing {
  std::string state{};  ///< see `ProcessorState`; empty: it did not say
  int per_host = 0;     ///< at once at most; 0: as many as there are
  std::vector<LeftAlone> left_alone{};

  /// Of very many hosts, only some.
  std::string text() const;
  /// Empty where it is not what `text` wrote.
  static Standing parse(std::string_view text);
};

}  // namespace holdfast::http
