#pragma once

#include <holdfast/results.hpp>

namespace holdfast::results {

/// The round of a transaction that a blob belongs to; see `blob_key`.
int round_of(const std::string& key);
/// Removes the blobs of older rounds; returns how many there were.
std::int64_t remove_rounds_before(BlobStore& blobs, const std::string& id, int round);

}  // namespace holdfast::results
