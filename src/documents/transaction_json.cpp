#include "documents/transaction_json.hpp"

#include <fmt/format.h>

#include "documents/json.hpp"
#include "documents/transaction_timeline.hpp"
#include "recovery/time_text.hpp"

namespace holdfast {

namespace {

std::string json_time(const std::optional<WallTime>& time) {
  return time ? json_string(iso8601(*time)) : std::string{};
}

/// How far a result is.
std::string progress_json(const results::Progress& progress) {
  std::vector<std::string> series;
  for (const auto& each : progress.series)
    series.push_back(JsonObject{}
                         .text("series", each.series)
                         .number("received", each.received)
                         .json("expected", each.expected < 0 ? "" : std::to_string(each.expected))
                         .number("surplus", each.surplus)
                         .text("missing", results::gaps_text(each.missing))
                         .str());
  return JsonObject{}
      .flag("announced", progress.announced)
      .flag("complete", progress.complete())
      .number("resends", progress.resends)
      .number("silent_ms", progress.silent.count())
      .json("series", json_list(series))
      .str();
}

std::vector<std::string> timeline_json(const TransactionSight& sight) {
  std::vector<std::string> entries;
  for (const auto& each : timeline_of(sight))
    entries.push_back(JsonObject{}
                          .text("at", iso8601(each.at))
                          .text("event", each.event)
                          .text("text", each.text)
                          .str());
  return entries;
}

/// Returns how many were left out.
std::size_t keep_last(std::vector<std::string>& entries, std::size_t most_bytes) {
  std::size_t bytes = 0, first = entries.size();
  while (first > 0 && (bytes += entries[first - 1].size()) <= most_bytes) --first;
  entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(first));
  return first;
}

}  // namespace

std::string transaction_json(const TransactionRecord& transaction) {
  return JsonObject{}
      .text("id", transaction.id)
      .text("machine", transaction.machine)
      .text("state", transaction.state)
      .text("task_state", to_string(transaction.task.state))
      .text("reason", transaction.reason)
      .text("error", transaction.error.empty() ? transaction.task.error : transaction.error)
      .number("failures", transaction.failures)
      .number("recoveries", transaction.task.recoveries)
      .text("worker", transaction.task.worker ? transaction.task.worker->text() : "")
      .number("token", transaction.task.token.value)
      .text("created_at", iso8601(transaction.task.created_at))
      .json("began_at", json_time(transaction.began_at))
      .json("entered_at", json_time(transaction.entered_at))
      .json("progressed_at", json_time(transaction.progressed_at))
      .json("finished_at", json_time(transaction.task.finished_at))
      .json("data", json_line(transaction.data))
      .json("input", json_line(transaction.input))
      .str();
}

std::optional<TransactionSight> look_at(const TransactionInspector& inspector,
                                        const Inspector& tasks, std::string_view id,
                                        std::int64_t most_moves) {
  auto found = inspector.find(id);
  if (!found) return {};
  auto last = inspector.last_moves(id, most_moves);
  TransactionSight sight{.transaction = *std::move(found),
                         .ledger = {},
                         .ledger_error = {},
                         .moves = std::move(last.moves),
                         .moves_before = last.before,
                         .outbox = inspector.outbox(id)};
  sight.transitions = tasks.history(sight.transaction.task.id);
  try {
    sight.ledger = inspector.ledger(id);
  } catch (const Error& error) {
    sight.ledger_error = error.what();
  }
  return sight;
}

std::string ledger_json(const LedgerEntry& entry) {
  return JsonObject{}
      .text("series", entry.series)
      .number("ordinal", entry.ordinal)
      .text("value", entry.value)
      .str();
}

std::string transaction_json(const TransactionSight& sight, std::size_t most_bytes) {
  std::vector<std::string> moves, ledger;
  for (const auto& move : sight.moves)
    moves.push_back(JsonObject{}
                        .text("from", move.from)
                        .text("to", move.to)
                        .text("reason", move.reason)
                        .number("token", move.token.value)
                        .text("at", iso8601(move.at))
                        .str());
  // The last moves and happenings and the first lines: each may fill its share.
  const auto first_move = keep_last(moves, most_bytes / 4);
  auto timeline = timeline_json(sight);
  keep_last(timeline, most_bytes / 4);
  std::size_t bytes = 0;
  for (const auto& entry : sight.ledger) {
    auto line = ledger_json(entry);
    if ((bytes += line.size()) > most_bytes / 2) break;
    ledger.push_back(std::move(line));
  }
  auto document = transaction_json(sight.transaction);
  document.pop_back();
  document +=
      fmt::format(",\"unsent\":{},\"history\":{},\"timeline\":{},\"ledger\":{}",
                  sight.outbox.size(), json_list(moves), json_list(timeline), json_list(ledger));
  const auto left_out = sight.moves_before + static_cast<std::int64_t>(first_move);
  if (left_out > 0) document += fmt::format(",\"history_left_out\":{}", left_out);
  if (ledger.size() < sight.ledger.size())
    document += fmt::format(",\"ledger_left_out\":{}", sight.ledger.size() - ledger.size());
  if (!sight.ledger_error.empty())
    document += ",\"ledger_error\":" + json_string(sight.ledger_error);
  if (sight.is_result()) document += ",\"result\":" + progress_json(sight.progress());
  return document + "}";
}

}  // namespace holdfast
