#pragma once

#include <string>
#include <vector>

#include "documents/transaction_json.hpp"

namespace holdfast {

/// Something that happened to a transaction, under the name that it has in logs.
struct TimelineEntry {
  WallTime at{};
  std::string event{};
  std::string text{};
};

/// Its moves, when it was taken back and continued, and of a result the last 100 parts that were
/// stored (its ledger has all, with their times), by time. Parts that came again are in the log
/// only: nothing is written about them. The last entry of one that completed is
/// `transaction_complete`.
std::vector<TimelineEntry> timeline_of(const TransactionSight& sight);

}  // namespace holdfast
