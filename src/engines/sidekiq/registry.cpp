#include "engines/sidekiq/registry.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engines/sidekiq/script.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::sidekiq {

namespace {

constexpr std::int64_t least_ttl_seconds = 3'600;
constexpr std::size_t holds_at_once = 1'000;
constexpr const char* told_for_seconds = "60";  // as long as Sidekiq's page shows a process

void add(redis::Command& command, const Hold& hold) {
  command.push_back(hold.id);
  command.push_back(hold.token);
}

std::vector<std::string> texts(const redis::Reply& reply) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < reply.size(); ++i) list.push_back(reply[i].string());
  return list;
}

}  // namespace

void add(redis::Command& command, const Effect& effect) {
  for (const auto* part : {&effect.what, &effect.where, &effect.when, &effect.text})
    command.push_back(*part);
}

std::string standing_key(const Dialect& dialect, std::string_view process) {
  return fmt::format("{}:holdfast:standing:{}", dialect.prefix, process);
}

std::int64_t RegistryOptions::ttl_seconds() const {
  return std::max<std::int64_t>(3 * orphan_threshold / std::chrono::seconds{1}, least_ttl_seconds);
}

Registry::Registry(redis::Server& server, const Dialect& dialect, RegistryOptions options)
    : server_{server}, dialect_{dialect}, options_{std::move(options)} {
  for (const auto& queue : options_.queues) places_[queue] = 0;
}

redis::Reply Registry::run(const redis::Script& script, redis::Command arguments) {
  arguments.insert(arguments.begin(), std::string{dialect_.prefix});
  return server_.run(script, arguments);
}

std::vector<TakenJob> Registry::take(int room) {
  redis::Command command{
      options_.process, std::to_string(room), std::to_string(options_.ttl_seconds()),
      std::string{dialect_.request_class}, std::to_string(options_.queues.size())};
  for (const auto& queue : options_.queues) {
    command.push_back(queue);
    command.push_back(std::to_string(places_[queue]));
  }
  kill_point(KillPoint::http_sidekiq_before_take);
  auto reply = run(scripts::take, std::move(command));
  kill_point(KillPoint::http_sidekiq_after_take);
  std::vector<TakenJob> jobs;
  constexpr std::size_t values_each = 4;
  for (std::size_t i = 0; i + values_each <= reply[0].size(); i += values_each)
    jobs.push_back({{reply[0][i].string(), reply[0][i + 1].string()},
                    reply[0][i + 2].string(),
                    reply[0][i + 3].string()});
  buried_.clear();
  for (std::size_t i = 0; i + 2 <= reply[2].size(); i += 2)
    buried_.emplace_back(reply[2][i].string(), reply[2][i + 1].string());
  saw_everything_ = true;
  for (std::size_t i = 0; i < options_.queues.size(); ++i) {
    auto place = reply[1][i].number();
    saw_everything_ = saw_everything_ && place < 0;
    places_[options_.queues[i]] = std::max<std::int64_t>(place, 0);
  }
  return jobs;
}

std::vector<Settled> Registry::settle(std::span<const Settling> requests) {
  redis::Command command{std::to_string(options_.orphan_threshold.count()),
                         std::to_string(options_.ttl_seconds()), std::to_string(requests.size())};
  for (const auto& one : requests) {
    add(command, one.hold);
    command.push_back(std::to_string(one.effects.size()));
    for (const auto& effect : one.effects) add(command, effect);
    command.push_back(std::to_string(one.totals.size()));
    for (const auto& [name, amount] : one.totals) {
      command.push_back(name);
      command.push_back(fmt::format("{}", amount));
    }
  }
  kill_point(KillPoint::http_sidekiq_before_settle);
  auto reply = run(scripts::settle, std::move(command));
  kill_point(KillPoint::http_sidekiq_after_settle);
  std::vector<Settled> settled;
  for (std::size_t i = 0; i < reply.size(); ++i)
    settled.push_back({reply[i].number() == 1, reply[i].string()});
  return settled;
}

std::vector<std::string> Registry::beat(std::span<const Hold> holds) {
  std::vector<std::string> lost;
  auto alive = std::max<std::int64_t>(2 * options_.heartbeat_interval / std::chrono::seconds{1}, 1);
  do {
    auto part = holds.first(std::min(holds.size(), holds_at_once));
    holds = holds.subspan(part.size());
    redis::Command command{options_.process,
                           std::to_string(options_.capacity),
                           std::to_string(alive),
                           std::to_string(options_.orphan_threshold.count()),
                           std::to_string(options_.ttl_seconds()),
                           std::to_string(part.size())};
    for (const auto& hold : part) add(command, hold);
    for (auto& id : texts(run(scripts::beat, std::move(command)))) lost.push_back(std::move(id));
  } while (!holds.empty());
  return lost;
}

std::vector<bool> Registry::begin_sending(std::span<const Hold> holds) {
  redis::Command command{std::to_string(options_.orphan_threshold.count()),
                         std::to_string(options_.ttl_seconds()), std::to_string(holds.size())};
  for (const auto& hold : holds) add(command, hold);
  kill_point(KillPoint::http_sidekiq_before_sending);
  auto reply = run(scripts::sending, std::move(command));
  kill_point(KillPoint::http_sidekiq_after_sending);
  std::vector<bool> held;
  for (std::size_t i = 0; i < reply.size(); ++i) held.push_back(reply[i].number() == 1);
  return held;
}

std::vector<std::string> Registry::put_back_strays(std::span<const Hold> known) {
  redis::Command command{options_.process, std::to_string(known.size())};
  for (const auto& hold : known) command.push_back(hold.token);
  return texts(run(scripts::strays, std::move(command)));
}

std::int64_t Registry::move_due() {
  return run(scripts::due, {std::string{dialect_.request_class}}).number();
}

void Registry::tell(const std::string& standing) {
  server_.call({"SET", standing_key(dialect_, options_.process), standing, "EX", told_for_seconds});
}

void Registry::leave() {
  auto prefix = fmt::format("{}:processes", dialect_.prefix);
  std::array commands{
      redis::Command{"SREM", prefix, options_.process},
      redis::Command{"DEL", fmt::format("{}:{}:max_connections", prefix, options_.process),
                     standing_key(dialect_, options_.process)},
      redis::Command{"HDEL", fmt::format("{}:holdfast:lives", dialect_.prefix), options_.process}};
  server_.call_all(commands);
}

}  // namespace holdfast::sidekiq
