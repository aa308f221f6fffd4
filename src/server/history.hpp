#pragma once

#include <mutex>
#include <string>
#include <vector>

#include <holdfast/engine.hpp>

#include "server/point.hpp"
#include "tasks/metrics_history.hpp"

namespace holdfast::server {

/// How a store was over time: seconds for an hour, minutes for two days, hours for a year. That is
/// at most 15,240 points of `longest_point_text` bytes. They are in the store itself, so whichever
/// server watches it shows the same; where it cannot be written, the last hour is remembered here.
/// Safe to use from many threads.
class History {
 public:
  explicit History(Engine engine) : engine_{std::move(engine)} {}

  void add(const Point& point);
  /// Writes what is new, makes minutes and hours of what is complete, and forgets what is too old.
  /// What was added since is lost in a crash.
  void flush(WallTime now);

  struct Read {
    int resolution_s = 1;
    std::vector<Point> points{};
  };
  /// From `since` until now, at the finest resolution that goes back so far.
  Read since(WallTime since, WallTime now) const;
  /// Where it is, for people; and why, if that is not the store.
  std::string kept_in() const;
  /// Why the store would not be written the last time; empty: it was. Waits for nobody.
  std::string refusal() const;

 private:
  MetricsHistory* store() const;
  void note_refusal(std::string why);
  void roll_up(std::size_t level, WallTime now);
  std::vector<Point> read(std::size_t level, WallTime since, WallTime until) const;

  Engine engine_;
  mutable std::mutex mutex_;
  std::vector<Point> waiting_{};      ///< to be written
  WallTime rolled_up_[3] = {};        ///< until when each level is complete
  mutable std::mutex refusal_mutex_;  ///< never held while the store is asked
  std::string refusal_{};
};

}  // namespace holdfast::server
