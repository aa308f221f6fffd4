#pragma once

#include <map>
#include <vector>

#include "recovery/worker_registry.hpp"
#include "tasks/figures.hpp"

namespace holdfast::server {

/// Makes rates out of what workers tell: of each, the difference to what it told before. A worker
/// tells every few seconds, so what it did meanwhile is spread over as long a time from then on:
/// nothing is left out or counted twice, and a chart of it is smooth, if a few seconds late.
///
/// A new worker has a new id and counts from nothing, so restarts need no care; what a worker that
/// is gone told last still counts. What was told before the first look belongs to the time before.
class Roll {
 public:
  struct Rates {
    double completed_per_s = 0;
    double failed_per_s = 0;
    double retried_per_s = 0;
    TimeHistogram run{};  ///< what was told since the last look
    TimeHistogram wait{};
    TimeHistogram run_lately{};  ///< what the rates are from
    TimeHistogram wait_lately{};
  };
  Rates look(const std::vector<ToldFigures>& told, WallTime now);

  /// How each kind of task fared in about the last hour.
  std::vector<Figures::OfKind> last_hour() const;

 private:
  struct Seen {
    WallTime at{};
    Figures figures{};
  };
  struct Stream {
    Figures figures{};
    double seconds = 1;  ///< how long it lasts
    double left = 1;     ///< of these
  };

  void take(const ToldFigures& told, Rates& rates);
  void flow(double elapsed, Rates& rates);
  void forget(WallTime now);

  std::optional<WallTime> last_{};
  std::map<WorkerId, Seen> seen_;
  std::vector<Stream> streams_;
  std::map<std::int64_t, Figures> minutes_;
};

}  // namespace holdfast::server
