#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "recovery/leases.hpp"

namespace holdfast {

/// What is past its time by a clock that somebody may set: a worker, or one of its leases.
struct PastItsTime {
  WorkerId worker{};
  Lease lease{};           ///< nil: the worker itself
  Millis lease_until{0};   ///< as it is written in the store
  Millis renewed_each{0};  ///< who is alive has renewed it after this
};

/// Decides whether what a server's clock calls expired is expired. A step of that clock ends every
/// lease at once, but who is alive renews within an interval. So a recoverer looks twice, at least
/// that far apart on its own monotonic clock, and believes it if nothing was renewed in between:
/// the same token, the same end. Where most workers seem to have expired at once, it believes that
/// of a few of them at a time, so that it is slowed down and never stopped.
///
/// What is remembered is forgotten as soon as a look does not show it any more, and is bounded.
/// Safe to use from several threads.
class ExpiryWatch {
 public:
  /// Everything that a look found past its time, all workers first, then leases in one or several
  /// portions. Tells of each whether it may be taken back now.
  std::vector<bool> look_at_workers(std::span<const PastItsTime> seen, std::size_t not_dead,
                                    Millis now);
  /// `all`: there are no others.
  std::vector<bool> look_at_leases(std::span<const PastItsTime> seen, bool all, Millis now);

  /// When the next look can tell more; `Millis::max()`: nothing waits for one.
  Millis look_again() const;
  /// How many leases the last look left for a later one. A look for leases is to ask for so many
  /// more than it can deal with.
  std::size_t leases_waiting() const;

  struct Mass {
    std::size_t workers = 0;  ///< that seem to have expired, or of whose leases some have
    std::size_t of = 0;       ///< that are not known to be dead
  };
  /// While most workers seem to have expired at once.
  std::optional<Mass> mass() const;
  /// True once for each time that it begins.
  bool mass_began();

 private:
  using Key = std::pair<WorkerId, TaskId>;
  struct First {
    Token token{};
    Millis lease_until{0};
    Millis at{0};
    Millis wait{0};
    Millis ready_at() const { return at + wait; }
  };
  using Looks = std::map<Key, First>;

  std::vector<bool> look(Looks& looks, std::span<const PastItsTime> seen, bool all, Millis now);
  void weigh(Millis now);
  void admit_some(const std::set<WorkerId>& affected, Millis now);

  mutable std::mutex mutex_;
  Looks workers_, leases_;
  std::size_t not_dead_ = 0;
  std::optional<Mass> mass_{};
  bool announced_ = true;
  std::set<WorkerId> admitted_;  ///< while it lasts: those that are believed to be dead by now
  std::size_t portion_ = 0;      ///< so many more of them at a time
  Millis admit_more_at_{0};
};

}  // namespace holdfast
