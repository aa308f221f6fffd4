#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tasks/token_bucket.hpp"

namespace holdfast {

/// What limits know a task by.
struct LimitNames {
  std::string_view queue;
  std::string_view kind;
  std::string_view key;  ///< empty: it has none
};

/// What may be claimed now, for engines whose claim is a transaction with code of ours in it: read
/// the limits, what is running and the buckets, ask here, and write back the buckets that changed.
class Allowance {
 public:
  /// Reads the bucket of one queue, kind or key; nothing if it was not stored.
  using ReadBucket = std::function<std::optional<TokenBucket>(LimitScope, const std::string& name)>;

  Allowance(std::vector<Limit> limits, WallTime now, ReadBucket read_bucket);

  /// Whether it matters what is running.
  bool counts_running() const;
  void add_running(const LimitNames& names, std::int64_t count);

  /// How many more tasks of these names may be claimed now, up to `wanted`.
  int room(const LimitNames& names, int wanted);
  /// Claims one; false, and nothing is changed, if there is no room.
  bool take(const LimitNames& names);
  /// So many that were taken were not claimed after all, because others have them.
  void put_back(const LimitNames& names, std::int64_t count);
  /// When it is worth to ask again, if there is no room now: see `LimitStore`. Nothing: never.
  std::optional<WallTime> room_at(const LimitNames& names);

  struct ChangedBucket {
    LimitScope scope;
    std::string name;
    TokenBucket bucket;
    WallTime full_at;
  };
  std::vector<ChangedBucket> changed() const;

 private:
  struct Gauge {
    const Limit* limit = nullptr;  ///< nothing: no limit is about this one
    std::int64_t running = 0;
    TokenBucket bucket{};
    bool changed = false;
  };
  using Place = std::pair<LimitScope, std::string>;

  const Limit* limit_of(const Place& place) const;
  Gauge& gauge(LimitScope scope, std::string_view name);
  template <class F>
  void each(const LimitNames& names, F what);

  std::map<Place, Limit> limits_;
  std::map<Place, Gauge> gauges_;
  WallTime now_;
  ReadBucket read_bucket_;
};

/// Ends of running tasks are announced; this is for those that were not.
inline constexpr Millis look_for_room_again{1'000};

}  // namespace holdfast
