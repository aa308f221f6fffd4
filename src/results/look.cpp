#include "results/look.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "results/store_part.hpp"

namespace holdfast::results {

namespace {

/// A reason is one line, however much is gone.
constexpr std::size_t longest_list = 300;

bool is_there(BlobStore& blobs, const std::vector<BlobInfo>& listed, const StoredPart& part) {
  auto found = std::ranges::lower_bound(listed, part.blob, {}, &BlobInfo::key);
  if (found == listed.end() || found->key != part.blob) return false;
  if (!std::cmp_equal(found->bytes, part.bytes)) return false;
  if (found->doubtful) return sum_of_blob(blobs, part.blob) == part.sha256;
  return found->sha256.empty() || found->sha256 == part.sha256;
}

}  // namespace

std::string Look::reason() const {
  std::string list;
  for (const auto& [series, gaps] : lost)
    list += fmt::format("{}'{}' {}", list.empty() ? "" : "; ", series, gaps_text(gaps));
  if (list.size() > longest_list) list = list.substr(0, longest_list) + "...";
  return fmt::format("{} of {} {} gone from the blobs or changed there: {}", gone, wanted,
                     wanted == 1 ? "part is" : "parts are", list);
}

Look look_at_parts(BlobStore& blobs, const std::string& id, const Tally& tally,
                   std::vector<LedgerEntry> lines) {
  const auto listed = blobs.list(id + "/");
  Look look;
  for (auto& line : lines) {
    bool wanted = tally.expects(line.series, line.ordinal);
    look.wanted += wanted;
    if (!wanted || is_there(blobs, listed, part_of(line.value))) {
      look.there.push_back(std::move(line));
      continue;
    }
    ++look.gone;
    auto& gaps = look.lost[line.series];
    if (!gaps.empty() && gaps.back().second == line.ordinal - 1)
      gaps.back().second = line.ordinal;
    else
      gaps.emplace_back(line.ordinal, line.ordinal);
  }
  return look;
}

}  // namespace holdfast::results
