#pragma once

#include "results/tally.hpp"

namespace holdfast::results {

/// The ledger of a result. One that was lost is made anew of the blobs: a part was recorded after
/// its blob was there, under a name that says which part it is.
std::vector<LedgerEntry> ledger_of(Transaction& transaction, BlobStore& blobs);

/// The part that a blob is of, if it is one of this round.
struct BlobPlace {
  std::string series;
  std::int64_t ordinal = 0;
  bool second = false;  ///< another one with other content was there before; see `store_part`
  bool operator==(const BlobPlace&) const = default;
};
std::optional<BlobPlace> place_of(const std::string& key, int round);

}  // namespace holdfast::results
