#include "documents/transaction_timeline.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "recovery/actors.hpp"
#include "recovery/time_text.hpp"
#include "recovery/transaction_notes.hpp"
#include "results/store_part.hpp"

namespace holdfast {

namespace {

constexpr std::string_view abandoned = "abandoned: ";
/// More would hide the moves.
constexpr std::ptrdiff_t most_parts = 100;

std::string named(TransactionNote note) { return std::string{name_of(note)}; }

/// Where it stood then.
std::string state_at(const std::vector<StateMove>& moves, WallTime at) {
  std::string state = moves.empty() ? std::string{} : moves.front().from;
  for (const auto& move : moves)
    if (move.at <= at) state = move.to;
  return state;
}

void add_move(std::vector<TimelineEntry>& timeline, const StateMove& move) {
  timeline.push_back({move.at, "transaction_moved",
                      fmt::format("{} -> {}{}{}", move.from, move.to,
                                  move.reason.empty() ? "" : ": ", move.reason)});
  // It is taken along to the state in which it fails, and was abandoned once.
  const bool first = std::ranges::none_of(
      timeline, [](const auto& each) { return each.event == name_of(TransactionNote::abandoned); });
  if (move.reason.starts_with(abandoned) && first)
    timeline.push_back(
        {move.at, named(TransactionNote::abandoned), move.reason.substr(abandoned.size())});
}

std::optional<WallTime> stored_at(const LedgerEntry& line) {
  try {
    return parse_iso8601(results::part_of(line.value).stored_at);
  } catch (const Error&) {
    return {};  // it is no part, or of another version
  }
}

/// The parts that were stored last.
std::vector<TimelineEntry> last_parts(const std::vector<LedgerEntry>& ledger) {
  std::vector<std::pair<WallTime, const LedgerEntry*>> parts;
  for (const auto& line : ledger)
    if (auto at = stored_at(line)) parts.emplace_back(*at, &line);
  const auto shown = std::min(std::ssize(parts), most_parts);
  std::ranges::partial_sort(parts, parts.begin() + shown, std::ranges::greater{});
  std::vector<TimelineEntry> entries;
  for (const auto& [at, line] : std::span{parts}.first(static_cast<std::size_t>(shown)))
    entries.push_back({at, named(TransactionNote::ordinal_stored), results::place(*line)});
  std::ranges::reverse(entries);
  return entries;
}

}  // namespace

std::vector<TimelineEntry> timeline_of(const TransactionSight& sight) {
  const auto& moves = sight.moves;
  std::vector<TimelineEntry> timeline;
  if (sight.is_result()) timeline = last_parts(sight.ledger);
  for (const auto& move : moves) add_move(timeline, move);
  bool taken_back = false;
  for (const auto& step : sight.transitions) {
    if (step.actor == actors::recovery)
      timeline.push_back({step.at, named(TransactionNote::recovering), step.reason});
    if (step.to == TaskState::running && std::exchange(taken_back, false))
      timeline.push_back({step.at, named(TransactionNote::recovered), state_at(moves, step.at)});
    taken_back = taken_back || step.actor == actors::recovery;
    if (step.to == TaskState::completed)
      timeline.push_back({step.at, named(TransactionNote::completed), {}});
    if (step.to == TaskState::cancelled)
      timeline.push_back({step.at, named(TransactionNote::cancelled), step.reason});
  }
  std::ranges::stable_sort(timeline, {}, &TimelineEntry::at);
  return timeline;
}

}  // namespace holdfast
