#pragma once

#include "results/tally.hpp"

namespace holdfast::results {

/// What became of the parts that a ledger has.
struct Look {
  std::vector<LedgerEntry> there{};  ///< as they were stored, and those that nobody is told of
  std::int64_t wanted = 0;           ///< parts that the notice would name
  std::int64_t gone = 0;             ///< of these, those whose blob is gone or another one
  /// For people: `2 of 9 parts are gone from the blobs or were changed there: 'Files' 3, 7`.
  std::string reason() const;

  std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> lost{};  ///< by series
};

/// Compares the ledger of a result with a list of its blobs: a store may lose what it acknowledged,
/// and whoever is told of a result takes it from there. Sizes are compared, and checksums where the
/// list has them; what the list cannot vouch for is read.
Look look_at_parts(BlobStore& blobs, const std::string& id, const Tally& tally,
                   std::vector<LedgerEntry> lines);

}  // namespace holdfast::results
