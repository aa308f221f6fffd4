#include <algorithm>

#include <fmt/format.h>

#include "results/tally.hpp"

namespace holdfast::results {

Knowledge knowledge_of(const std::string& data_json) {
  if (data_json.empty() || data_json == "null") return {};
  return detail::read_of_transaction<Knowledge>(data_json, "data of the transaction");
}

bool Ordinals::contains(std::int64_t ordinal) const {
  auto after = runs_.upper_bound(ordinal);
  return after != runs_.begin() && std::prev(after)->second >= ordinal;
}

void Ordinals::add(std::int64_t ordinal) {
  if (contains(ordinal)) return;
  auto after = runs_.upper_bound(ordinal);
  auto first = ordinal, last = ordinal;
  if (after != runs_.end() && after->first == ordinal + 1) {
    last = after->second;
    after = runs_.erase(after);
  }
  if (after != runs_.begin() && std::prev(after)->second == ordinal - 1)
    first = std::prev(after)->first;
  runs_[first] = last;
}

std::int64_t Ordinals::count_up_to(std::int64_t last) const {
  std::int64_t count = 0;
  for (const auto& [from, to] : runs_)
    count += std::max<std::int64_t>(std::min(to, last) - from + 1, 0);
  return count;
}

std::vector<std::pair<std::int64_t, std::int64_t>> Ordinals::missing_up_to(
    std::int64_t last) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> missing;
  std::int64_t next = 1;
  for (const auto& [from, to] : runs_) {
    if (from > last) break;
    if (from > next) missing.emplace_back(next, from - 1);
    next = to + 1;
  }
  if (next <= last) missing.emplace_back(next, last);
  return missing;
}

Tally::Tally(const std::string& data_json, const std::vector<LedgerEntry>& ledger)
    : known{knowledge_of(data_json)} {
  for (const auto& entry : ledger) received[entry.series].add(entry.ordinal);
}

bool Tally::complete() const {
  if (!known.announced) return false;
  return std::ranges::all_of(known.series, [&](const auto& each) {
    auto there = received.find(each.first);
    auto count = there == received.end() ? 0 : there->second.count_up_to(each.second);
    return count == each.second;
  });
}

bool Tally::expects(const std::string& series, std::int64_t ordinal) const {
  if (!known.announced) return true;
  auto announced = known.series.find(series);
  return announced != known.series.end() && ordinal <= announced->second;
}

Progress Tally::progress() const {
  Progress progress{
      .announced = known.announced, .resends = known.resends, .silent = Millis{known.silent_ms}};
  std::map<std::string, std::int64_t> expected = known.series;
  for (const auto& [name, ordinals] : received) expected.emplace(name, known.announced ? 0 : -1);
  for (const auto& [name, count] : expected) {
    auto at = received.find(name);
    auto there = at == received.end() ? Ordinals{} : at->second;
    auto highest = there.highest();
    auto last = known.announced ? count : highest;
    auto inside = there.count_up_to(last);
    progress.series.push_back({.series = name,
                               .received = inside,
                               .surplus = there.count_up_to(highest) - inside,
                               .expected = count,
                               .missing = there.missing_up_to(last)});
  }
  return progress;
}

bool Progress::complete() const {
  return announced && std::ranges::all_of(series, [](const SeriesProgress& each) {
           return each.received == each.expected;
         });
}

Progress progress_of(const TransactionRecord& transaction, const std::vector<LedgerEntry>& ledger) {
  return Tally{transaction.data, ledger}.progress();
}

std::string gaps_text(const std::vector<std::pair<std::int64_t, std::int64_t>>& gaps) {
  std::string text;
  for (auto [first, last] : gaps) {
    if (!text.empty()) text += ", ";
    text += first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

}  // namespace holdfast::results
