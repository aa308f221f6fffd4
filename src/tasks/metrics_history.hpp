#pragma once

#include <span>
#include <string>
#include <vector>

#include <holdfast/task.hpp>

namespace holdfast {

/// How a store was in one second, minute or hour.
struct HistoryPoint {
  int resolution_s = 1;
  WallTime at{};  ///< when that second, minute or hour began
  std::string text{};
};

/// Points that are older are not needed any more.
struct HistoryEnd {
  int resolution_s = 1;
  WallTime before{};
};

/// How a store was over time, kept in the store itself, so that any server can show it. There is
/// one point for each resolution and time and the first that comes stays: two servers that watch
/// one store write the same history and count nothing twice.
class MetricsHistory {
 public:
  virtual ~MetricsHistory() = default;

  /// One commit, and none where nothing is new.
  virtual void keep(std::span<const HistoryPoint> points, std::span<const HistoryEnd> ends) = 0;
  /// Oldest first; `until` is not included.
  virtual std::vector<HistoryPoint> read(int resolution_s, WallTime since, WallTime until) = 0;
};

}  // namespace holdfast
