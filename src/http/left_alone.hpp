#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/http/left_alone.hpp>

#include "http/url.hpp"

namespace holdfast::http {

/// With its port, unless that is the usual one.
std::string host_text(const Origin& origin);

/// What a processor tells of itself with its heartbeats.
struct Standing {
  std::string state{};  ///< see `ProcessorState`; empty: it did not say
  int per_host = 0;     ///< at once at most; 0: as many as there are
  std::vector<LeftAlone> left_alone{};
  /// Why requests cannot begin there now; empty: they can. Only processors for Sidekiq say so, the
  /// others tell it as workers do.
  std::string trouble{};

  /// Of very many hosts, only some.
  std::string text() const;
  /// Empty where it is not what `text` wrote.
  static Standing parse(std::string_view text);
};

/// What several processors tell: each host once, for as long as any of them leaves it alone.
std::vector<LeftAlone> left_alone_by_any(const std::vector<Standing>& standings, WallTime now);

}  // namespace holdfast::http
