#include "results/rounds.hpp"

#include <charconv>

namespace holdfast::results {

int round_of(const std::string& key) {
  constexpr std::string_view mark = "-r";
  auto at = key.find(mark, key.rfind('/') + 1);
  int round = 0;
  if (at != key.npos)
    std::from_chars(key.data() + at + mark.size(), key.data() + key.size(), round);
  return round;
}

std::int64_t remove_rounds_before(BlobStore& blobs, const std::string& id, int round) {
  std::int64_t removed = 0;
  for (const auto& blob : blobs.list(id + "/"))
    if (round_of(blob.key) < round) removed += blobs.remove(blob.key);
  return removed;
}

}  // namespace holdfast::results
