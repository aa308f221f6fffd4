#include "engines/redis/ledger.hpp"

#include <array>

#include <fmt/format.h>

#include "engines/redis/arguments.hpp"
#include "engines/redis/durability.hpp"
#include "engines/redis/ledger_lines.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::redis {

namespace {

/// Whoever makes a ledger tells its store a moment later. After this time nobody will any more.
constexpr Millis between_looks{std::chrono::hours{1}};

Address asking_for_syncs(Address address) {
  if (!address.expected) address.expected = Durability::power_safe;
  return address;
}

}  // namespace

RedisLedger::RedisLedger(Address address, std::string store)
    : server_{asking_for_syncs(std::move(address))},
      keys_{server_.address().prefix},
      index_{keys_.key("ledgers:" + std::move(store))} {}

void RedisLedger::lost(const LedgerName& name) const {
  throw LedgerLost{fmt::format("the ledger of the transaction of task {} is not in {} any more",
                               name.task.text(), server_.address().name())};
}

void RedisLedger::check_server() {
  std::call_once(checked_, [&] { look_at_persistence(server_); });
}

std::int64_t RedisLedger::now() { return server_.call({"TIME"})[0].number() * 1'000; }

// The index comes first: a name in it that is no ledger is harmless.
void RedisLedger::begin(const LedgerName& name, Token token) {
  check_server();
  kill_point(KillPoint::ledger_before_begin);
  std::array commands{Command{"ZADD", index_, std::to_string(now()), name.text()},
                      Command{"HSET", key(name), "token", std::to_string(token.value)}};
  server_.call_all(commands);
  kill_point(KillPoint::ledger_after_begin);
}

std::optional<Ledger::Recorded> RedisLedger::record(const LedgerName& name, Token token,
                                                    std::span<const LedgerEntry> entries) {
  std::vector<std::string> fields_and_values;
  for (const auto& entry : entries) {
    fields_and_values.push_back(ledger_field(entry.series, entry.ordinal));
    fields_and_values.push_back(entry.value);
  }
  Arguments arguments{keys_.tag()};
  arguments.add("").add("").add(name.text()).add(token.value).add(fields_and_values);
  kill_point(KillPoint::ledger_before_record);
  auto answer = server_.run(scripts::record_ledger, arguments.encoded());
  kill_point(KillPoint::ledger_after_record);
  if (answer[0].number() == 0) lost(name);
  if (answer[0].number() == 1) return {};
  Recorded recorded{.values = {}, .grown = answer[1].number() > 0};
  for (std::size_t i = 0; i < answer[2].size(); ++i)
    recorded.values.push_back(answer[2][i].string());
  return recorded;
}

std::optional<std::string> RedisLedger::recorded(const LedgerName& name, const std::string& series,
                                                 std::int64_t ordinal) {
  auto found = server_.call({"HMGET", key(name), "token", ledger_field(series, ordinal)});
  if (found[0].is_nil()) lost(name);
  if (found[1].is_nil()) return {};
  return found[1].string();
}

std::vector<LedgerEntry> RedisLedger::lines(const LedgerName& name) {
  auto all = server_.call({"HGETALL", key(name)});
  if (all.size() == 0) lost(name);
  return ledger_lines(all);
}

void RedisLedger::remove(const LedgerName& name) {
  kill_point(KillPoint::ledger_before_remove);
  std::array commands{Command{"UNLINK", key(name)}, Command{"ZREM", index_, name.text()}};
  server_.call_all(commands);
  kill_point(KillPoint::ledger_after_remove);
}

std::vector<LedgerName> RedisLedger::to_look_at(int most) {
  auto at = now();
  auto found =
      server_.call({"ZRANGEBYSCORE", index_, "-inf", std::to_string(at - between_looks.count()),
                    "LIMIT", "0", std::to_string(most)});
  std::vector<LedgerName> names;
  std::vector<Command> looked_at;
  for (std::size_t i = 0; i < found.size(); ++i) {
    looked_at.push_back({"ZADD", index_, "XX", std::to_string(at), found[i].string()});
    if (auto name = LedgerName::parse(found[i].text())) names.push_back(*name);
  }
  if (!looked_at.empty()) server_.call_all(looked_at);
  return names;
}

}  // namespace holdfast::redis
