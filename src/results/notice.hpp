#pragma once

#include "results/tally.hpp"

namespace holdfast::results {

/// What the producer is asked for, under the next id of this round. `missing` is said where parts
/// were lost.
Message request_for(const Transaction& transaction, const Options& options, Knowledge& known,
                    const Tally* missing);

/// The notice that everything is there, with the parts of each series in order.
Message completion_of(const Transaction& transaction, const Options& options, const Tally& tally,
                      const std::vector<LedgerEntry>& ledger, WallTime now);

/// The notice that it failed and why, with how far it was.
Message failure_of(const Transaction& transaction, const Options& options, const Tally& tally,
                   WallTime now);

}  // namespace holdfast::results
