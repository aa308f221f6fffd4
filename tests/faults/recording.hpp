#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "faults/power_cut.hpp"
#include "faults/workload.hpp"

namespace holdfast::test {

/// A run of the workload, as the disk saw it.
struct Recording {
  std::vector<Change> changes{};
  /// After so many changes each step was acknowledged.
  std::vector<std::size_t> acknowledged{};

  /// Steps that were acknowledged before the change.
  std::size_t steps_before(std::size_t change) const;
  /// Places where power cuts differ: just before a sync, and at the end.
  std::vector<std::size_t> sync_points() const;
  /// Before every single change, and at the end.
  std::vector<std::size_t> all_points() const;
};

/// Runs the workload in a store with this durability.
Recording record(Durability durability);

/// A moment at which the power may go.
struct Moment {
  const Disk& disk;
  std::size_t change = 0;        ///< it goes before this one
  std::size_t acknowledged = 0;  ///< steps of the workload

  /// What is found after the n-th way to cut the power.
  Files cut(int n) const;
  /// In words, with what it takes to do it again.
  std::string name(int n) const;
};

/// Calls `at` for these places in the recording with the disk as it is there, and for each of
/// `cuts` ways to cut the power. `HOLDFAST_POWER_CUT=change:n` in the environment leaves one of
/// them, and `HOLDFAST_POWER_CUTS=n` takes the place of `cuts`.
void cut_power(const Recording& recording, const std::vector<std::size_t>& places, int cuts,
               const std::function<void(const Moment&, int n)>& at);

}  // namespace holdfast::test
