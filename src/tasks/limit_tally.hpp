#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tasks/allowance.hpp"

namespace holdfast {

/// Adds up what limits are in use for, so that people can be shown it. Stores bring what they keep:
/// the limits, how many tasks of each lane are running, and the buckets.
class LimitTally {
 public:
  explicit LimitTally(std::vector<Limit> limits);

  void add_running(const LimitNames& names, std::int64_t count);
  void add_bucket(LimitScope scope, std::string_view name, const TokenBucket& bucket);

  /// By scope and name.
  std::vector<LimitStatus> statuses(WallTime now) const;

 private:
  using Place = std::pair<LimitScope, std::string>;
  struct Use {
    std::int64_t running = 0;
    std::optional<TokenBucket> bucket{};
  };

  std::map<Place, Limit> limits_;
  std::map<Place, Use> uses_;
};

}  // namespace holdfast
