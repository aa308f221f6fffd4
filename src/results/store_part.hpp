#pragma once

#include "results/envelope.hpp"

namespace holdfast::results {

/// What the ledger says about a part.
struct StoredPart {
  std::string blob;
  std::int64_t bytes = 0;
  std::string sha256{};
  std::string stored_at{};  ///< ISO 8601; empty: its line was lost, and made again of the blob
};
BOOST_DESCRIBE_STRUCT(StoredPart, (), (blob, bytes, sha256, stored_at))
/// Throws `UnfitTransaction` for a line that another version wrote.
StoredPart part_of(const std::string& line);
/// Which part that is, for people: `1 of series 'A'`.
std::string place(const LedgerEntry& entry);

/// The checksum of a part that is in a message. Throws `Malformed` if it is not what its envelope
/// says.
std::string sum_of(Delivery& delivery, const PartMessage& part);

/// The checksum of a blob; empty: it is damaged, or there is none.
std::string sum_of_blob(BlobStore& blobs, const std::string& key);

/// Keeps a part as a blob under this key. A blob that is there already and is the same was left
/// by somebody who died before he could record it. One that is not the same stays, because a worker
/// that was taken for dead may be about to record it; then the key is another.
StoredPart store_part(BlobStore& blobs, Delivery& delivery, const PartMessage& part,
                      std::string key);

}  // namespace holdfast::results
