#pragma once

#include <string>
#include <vector>

#include <holdfast/transaction_inspector.hpp>

namespace holdfast {

/// Something that happened to a transaction, under the name that it has in logs.
struct TimelineEntry {
  WallTime at{};
  std::string event{};
  std::string text{};
};

/// Its moves, and when it was taken back and continued, by time. What happened to each part is in
/// the log only, because the ledger has no times. The last entry of one that completed is
/// `transaction_complete`.
std::vector<TimelineEntry> timeline_of(const std::vector<StateMove>& moves,
                                       const std::vector<Transition>& transitions);

}  // namespace holdfast
