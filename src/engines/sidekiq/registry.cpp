#include "engines/sidekiq/registry.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engines/sidekiq/script.hpp"
#include "recovery/kill_point.hpp"
#include "tasks/time_histogram.hpp"

namespace holdfast::sidekiq {

namespace {

constexpr std::int64_t least_ttl_seconds = 3'600;
constexpr std::size_t holds_at_once = 1'000;
constexpr const char* told_for_seconds = "60";  // as long as Sidekiq's page shows a process

void add(redis::Command& command, const Hold& hold) {
  command.push_back(hold.id);
  command.push_back(hold.token);
}

std::string class_of(double seconds) {
  auto micros = std::chrono::duration_cast<TimeHistogram::Micros>(
      std::chrono::duration<double>{std::clamp(seconds, 0.0, 1e6)});
  return std::to_string(TimeHistogram::bucket(micros));
}

std::vector<std::string> texts(const redis::Value& reply) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < reply.size(); ++i) list.push_back(reply[i].string());
  return list;
}

/// From a place on.
std::vector<std::pair<std::string, std::string>> pairs(const redis::Value& reply,
                                                       std::size_t from = 0) {
  std::vector<std::pair<std::string, std::string>> list;
  for (std::size_t i = from; i + 2 <= reply.size(); i += 2)
    list.emplace_back(reply[i].string(), reply[i + 1].string());
  return list;
}

std::vector<TakenJob> taken_jobs(const redis::Value& reply) {
  std::vector<TakenJob> jobs;
  constexpr std::size_t values_each = 5;
  for (std::size_t i = 0; i + values_each <= reply.size(); i += values_each)
    jobs.push_back({{reply[i].string(), reply[i + 1].string()},
                    reply[i + 2].string(),
                    reply[i + 3].string(),
                    reply[i + 4].string()});
  return jobs;
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
    : server_{server},
      dialect_{dialect},
      options_{std::move(options)},
      walks_(options_.queues.size()) {}

redis::Reply Registry::run(const redis::Script& script, redis::Command arguments) {
  arguments.insert(arguments.begin(), std::string{dialect_.prefix});
  return server_.run(script, arguments);
}

std::vector<TakenJob> Registry::take(int room, const AtHosts& in_hand) {
  const auto has_room = [&](const std::string& host) { return in_hand.wants_more(host); };
  const auto began = Walk::Clock::now();
  redis::Command command{options_.process,
                         std::to_string(room),
                         std::to_string(options_.ttl_seconds()),
                         std::string{dialect_.request_class},
                         std::to_string(in_hand.per_host()),
                         std::to_string(in_hand.line()),
                         std::to_string(in_hand.room_to_wait()),
                         std::to_string(in_hand.counts().size())};
  for (const auto& [host, count] : in_hand.counts()) {
    command.push_back(host);
    command.push_back(std::to_string(count));
  }
  command.push_back(std::to_string(options_.queues.size()));
  for (std::size_t i = 0; i < walks_.size(); ++i) {
    walks_[i].begin(has_room, began);
    command.push_back(options_.queues[i]);
    command.push_back(std::to_string(walks_[i].place()));
    const auto closed = walks_[i].closed();
    command.push_back(std::to_string(closed.size()));
    command.insert(command.end(), closed.begin(), closed.end());
  }
  kill_point(KillPoint::http_sidekiq_before_take);
  auto reply = run(scripts::take, std::move(command));
  kill_point(KillPoint::http_sidekiq_after_take);
  buried_ = pairs(reply[2]);
  refusals_ = pairs(reply[3]);
  auto jobs = taken_jobs(reply[0]);
  note_steps(reply[1], jobs, began);
  return jobs;
}

void Registry::note_steps(const redis::Value& places, const std::vector<TakenJob>& jobs,
                          Walk::Time began) {
  const auto now = Walk::Clock::now();
  for (std::size_t i = 0; i < walks_.size(); ++i) {
    const auto& queue = options_.queues[i];
    auto gone = std::ranges::count(jobs, queue, &TakenJob::queue) +
                std::ranges::count(buried_, queue, &Buried::first);
    Walk::Step step{.passed = places[i][1].number(),
                    .taken = gone,
                    .at_end = places[i][0].number() == 1,
                    .took = now - began};
    for (std::size_t k = 2; k + 2 <= places[i].size(); k += 2)
      step.hosts[places[i][k].string()] = places[i][k + 1].number();
    walks_[i].stepped(step, now);
  }
}

bool Registry::saw_everything() const { return std::ranges::all_of(walks_, &Walk::at_end); }

bool Registry::left_some() const { return std::ranges::any_of(walks_, &Walk::left_some); }

Millis Registry::rests_for() const {
  const auto now = Walk::Clock::now();
  auto longest = Walk::Duration{0};
  for (const auto& walk : walks_) longest = std::max(longest, walk.rests_until() - now);
  return std::chrono::ceil<Millis>(longest);
}

std::vector<Settled> Registry::settle(std::span<const Settling> requests) {
  redis::Command command{std::to_string(options_.ttl_seconds()), std::to_string(requests.size())};
  for (const auto& one : requests) {
    add(command, one.hold);
    command.push_back(std::to_string(one.effects.size()));
    for (const auto& effect : one.effects) add(command, effect);
    command.push_back(std::to_string(one.totals.size()));
    for (const auto& [name, amount] : one.totals) {
      command.push_back(name);
      command.push_back(fmt::format("{}", amount));
    }
    command.push_back(one.took ? class_of(*one.took) : "");
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
    redis::Command command{options_.process, std::to_string(options_.capacity),
                           std::to_string(alive), std::to_string(options_.ttl_seconds()),
                           std::to_string(part.size())};
    for (const auto& hold : part) add(command, hold);
    for (auto& id : texts(run(scripts::beat, std::move(command)))) lost.push_back(std::move(id));
  } while (!holds.empty());
  return lost;
}

std::vector<bool> Registry::begin_sending(std::span<const Hold> holds) {
  redis::Command command{std::to_string(options_.ttl_seconds()), std::to_string(holds.size())};
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

Registry::Moved Registry::move_due() {
  redis::Command command{std::string{dialect_.request_class}};
  for (auto place : due_places_) command.push_back(std::to_string(place));
  auto reply = run(scripts::due, std::move(command));
  for (std::size_t i = 0; i < due_places_.size(); ++i) due_places_[i] = reply[i + 1].number();
  return {reply[0].number(), pairs(reply, 1 + due_places_.size())};
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
