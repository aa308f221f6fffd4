#include "results/lost_ledger.hpp"

#include <charconv>
#include <map>

#include "results/rounds.hpp"
#include "results/store_part.hpp"

namespace holdfast::results {

namespace {

/// What `blob_key` made of the name of a series.
std::optional<std::string> series_of(std::string_view folder) {
  std::string series;
  for (std::size_t i = 0; i < folder.size(); ++i) {
    if (folder[i] != '_') {
      series += folder[i];
      continue;
    }
    unsigned char byte = 0;
    auto digits = folder.substr(i + 1, 2);
    auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (wrong != std::errc{} || digits.size() < 2 || end != digits.data() + 2) return {};
    series += static_cast<char>(byte);
    i += 2;
  }
  return series;
}

/// Of two blobs of one part, the ledger had the second: it came into being because the ledger did
/// not know the first.
std::vector<LedgerEntry> found_again(BlobStore& blobs, const std::string& id, int round) {
  std::map<std::pair<std::string, std::int64_t>, std::pair<bool, BlobInfo>> found;
  for (auto& blob : blobs.list(id + "/")) {
    auto place = place_of(blob.key, round);
    if (!place) continue;
    auto& [second, chosen] = found[{place->series, place->ordinal}];
    if (chosen.key.empty() || (place->second && !second)) {
      second = place->second;
      chosen = std::move(blob);
    }
  }
  std::vector<LedgerEntry> entries;
  for (const auto& [part, choice] : found) {
    const auto& blob = choice.second;
    auto sum = sum_of_blob(blobs, blob.key);
    if (sum.empty()) continue;  // damaged or gone: that part is missing
    StoredPart stored{blob.key, static_cast<std::int64_t>(blob.bytes), std::move(sum)};
    entries.push_back({part.first, part.second, to_payload(stored)});
  }
  return entries;
}

}  // namespace

std::optional<BlobPlace> place_of(const std::string& key, int round) {
  constexpr std::string_view ending = ".blob";
  auto slash = key.rfind('/');
  auto before = slash == key.npos ? key.npos : key.rfind('/', slash - 1);
  if (before == key.npos || !key.ends_with(ending) || round_of(key) != round) return {};
  auto series = series_of(std::string_view{key}.substr(before + 1, slash - before - 1));
  auto stem = std::string_view{key}.substr(slash + 1, key.size() - ending.size() - slash - 1);
  std::int64_t ordinal = 0;
  auto rest = std::from_chars(stem.data(), stem.data() + stem.size(), ordinal).ptr;
  if (!series || ordinal < 1) return {};
  auto plain = blob_key(key.substr(0, before), *series, ordinal, round);
  bool second = plain != key;
  if (second && rest == stem.data() + stem.size()) return {};
  return BlobPlace{*series, ordinal, second};
}

std::vector<LedgerEntry> ledger_of(Transaction& transaction, BlobStore& blobs) {
  try {
    return transaction.ledger();
  } catch (const LedgerLost&) {
    auto round = knowledge_of(transaction.data_json()).round;
    auto entries = found_again(blobs, transaction.id(), round);
    transaction.replace_ledger(entries);
    return entries;
  }
}

}  // namespace holdfast::results
