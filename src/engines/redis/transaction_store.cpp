#include "engines/redis/transaction_store.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <boost/json.hpp>
#include <holdfast/payload.hpp>

#include "engines/redis/ledger_lines.hpp"
#include "engines/redis/range.hpp"

namespace holdfast::redis {

namespace {

constexpr Store::KillPoints step_points{KillPoint::step_before_commit,
                                        KillPoint::step_after_commit};

/// A body may have any bytes, so it comes last.
std::string message_text(const Message& message) {
  auto head = boost::json::serialize(
      boost::json::value_from(std::tuple{message.queue, message.id, message.headers}));
  return head + separator + message.body;
}

Message parse_message(std::string_view text) {
  auto end = std::min(text.find(separator), text.size());
  auto [queue, id, headers] =
      from_payload<std::tuple<std::string, std::string, MessageHeaders>>(text.substr(0, end));
  return {queue, std::string{text.substr(std::min(text.size(), end + 1))}, id, headers};
}

std::string number_text(WallTime time) { return std::to_string(time.time_since_epoch().count()); }

/// As adopt_transactions.lua takes it.
void add(Arguments& arguments, const TransactionParcel& parcel) {
  const auto& row = parcel.row;
  std::vector<std::string> lines, messages, moves;
  for (const auto& entry : parcel.ledger) {
    lines.push_back(ledger_field(entry.series, entry.ordinal));
    lines.push_back(entry.value);
  }
  for (const auto& message : parcel.outbox) messages.push_back(message_text(message));
  for (const auto& move : parcel.moves)
    moves.push_back(fmt::format("{}{}{}{}{}{}{}{}{}", move.from, separator, move.to, separator,
                                move.token.value, separator, number_text(move.at), separator,
                                move.reason));
  arguments.add(parcel.id.text());
  arguments.add(
      std::vector<std::string>{"s", row.state, "y", row.reason, "d", row.data, "e", row.error, "f",
                               std::to_string(row.failures), "b", number_text(row.began_at), "n",
                               number_text(row.entered_at), "p", number_text(row.progressed_at)});
  arguments.add(lines).add(messages).add(moves);
}

std::vector<std::string> none_or_one(const std::optional<std::string>& text) {
  return text ? std::vector{*text} : std::vector<std::string>{};
}

/// As take_step in transactions.lua takes it.
void add(Arguments& arguments, const Step& step) {
  std::vector<std::string> lines, marks, messages, sent;
  for (const auto& entry : step.record) {
    lines.push_back(ledger_field(entry.series, entry.ordinal));
    lines.push_back(entry.value);
  }
  for (const auto& entry : step.marks) {
    marks.push_back(ledger_field(entry.series, entry.ordinal));
    marks.push_back(entry.value);
  }
  for (const auto& message : step.send) messages.push_back(message_text(message));
  for (auto number : step.sent) sent.push_back(std::to_string(number));
  arguments.add(none_or_one(step.to)).add(step.reason);
  arguments.add(none_or_one(step.data)).add(none_or_one(step.error));
  arguments.add(none_or_one(step.trouble)).add(step.forget_ledger);
  arguments.add(step.progressed).add(lines).add(marks).add(messages).add(sent);
}

}  // namespace

std::vector<Stepped> RedisTransactionStore::step(std::span<const Step> steps) {
  auto arguments = store_.arguments();
  arguments.add(steps.size());
  for (const auto& one : steps) {
    arguments.add(one.lease).add(one.from);
    add(arguments, one);
  }
  auto answers = store_.run(step_points, scripts::step, arguments);
  std::vector<Stepped> done;
  for (std::size_t i = 0; i + 1 < answers.size(); i += 2) {
    auto& stepped = done.emplace_back();
    stepped.accepted = answers[i].number() == 1;
    for (std::size_t j = 0; j < answers[i + 1].size(); ++j)
      stepped.recorded.push_back(answers[i + 1][j].string());
  }
  return done;
}

std::vector<std::optional<TransactionRow>> RedisTransactionStore::find(
    std::span<const TaskId> ids) {
  std::vector<Command> commands;
  for (auto id : ids)
    commands.push_back({"HMGET", key("x:", id), "s", "y", "d", "e", "f", "b", "n", "p"});
  std::vector<std::optional<TransactionRow>> rows;
  if (commands.empty()) return rows;
  for (const auto& row : store_.server.call_all(commands)) {
    auto& found = rows.emplace_back();
    if (row[0].is_nil()) continue;
    found = TransactionRow{.state = row[0].string(),
                           .reason = row[1].string(),
                           .data = row[2].string(),
                           .error = row[3].string(),
                           .failures = static_cast<int>(row[4].number()),
                           .began_at = wall_time(row[5].number()),
                           .entered_at = wall_time(row[6].number()),
                           .progressed_at = wall_time(row[7].number())};
  }
  return rows;
}

std::optional<std::string> RedisTransactionStore::recorded(TaskId id, const std::string& series,
                                                           std::int64_t ordinal) {
  auto found = store_.server.call({"HGET", key("l:", id), ledger_field(series, ordinal)});
  if (found.is_nil()) return {};
  return found.string();
}

std::vector<LedgerEntry> RedisTransactionStore::ledger(TaskId id, Stretch stretch) {
  if (stretch.skip == 0 && !stretch.is_bounded())
    return ledger_lines(store_.server.call({"HGETALL", key("l:", id)}));
  // A hash has no order, so its names are read whole, and of its values those that are wanted.
  const auto fields = ledger_fields(store_.server.call({"HKEYS", key("l:", id)}), stretch);
  if (fields.empty()) return {};
  Command command{"HMGET", key("l:", id)};
  command.insert(command.end(), fields.begin(), fields.end());
  return ledger_lines(fields, store_.server.call(command));
}

std::vector<OutboxEntry> RedisTransactionStore::outbox(TaskId id) {
  auto all = store_.server.call({"HGETALL", key("o:", id)});
  std::vector<OutboxEntry> entries;
  for (std::size_t i = 0; i + 1 < all.size(); i += 2)
    entries.push_back({all[i].number(), parse_message(all[i + 1].text())});
  std::ranges::sort(entries, {}, &OutboxEntry::number);
  return entries;
}

std::vector<StateMove> RedisTransactionStore::moves(TaskId id, Stretch stretch) {
  auto all = store_.server.call(range_of(key("m:", id), stretch));
  std::vector<StateMove> moves;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto parts = split(all[i].text(), 5);
    moves.push_back({parts[0], parts[1], parts[4], Token{parse_number(parts[2])},
                     wall_time(parse_number(parts[3]))});
  }
  return moves;
}

std::int64_t RedisTransactionStore::move_count(TaskId id) {
  return store_.server.call({"LLEN", key("m:", id)}).number();
}

bool RedisTransactionStore::put_back(TaskId id, Step step) {
  auto arguments = store_.arguments();
  arguments.add(id.text());
  add(arguments, step);
  return store_.run(step_points, scripts::put_back, arguments).number() == 1;
}

void RedisTransactionStore::adopt(std::span<const TransactionParcel> parcels) {
  auto arguments = store_.arguments();
  arguments.add(parcels.size());
  for (const auto& parcel : parcels) add(arguments, parcel);
  store_.run(move_points, scripts::adopt_transactions, arguments);
}

}  // namespace holdfast::redis
