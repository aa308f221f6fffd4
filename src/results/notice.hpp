#pragma once

#include "results/tally.hpp"

namespace holdfast::results {

/// What the producer is asked for. `missing` is said where it is asked again.
Message request_for(const Transaction& transaction, const Options& options, const Tally* missing);

/// The notice that everything is there, with the parts of each series in order.
Message completion_of(const Transaction& transaction, const Options& options, const Tally& tally,
                      const std::vector<LedgerEntry>& ledger, WallTime now);

}  // namespace holdfast::results
