#include "engines/redis/limits.hpp"

#include <array>
#include <tuple>

#include <fmt/format.h>

#include "tasks/limit_tally.hpp"

namespace holdfast::redis {

namespace {

constexpr Store::KillPoints limit_points{KillPoint::limit_before_commit,
                                         KillPoint::limit_after_commit};

std::string place_text(LimitScope scope, const std::string& name) {
  return fmt::format("{}{}{}", static_cast<int>(scope), separator, name);
}

std::pair<LimitScope, std::string> parse_place(std::string_view text) {
  auto parts = split(text, 2);
  return {static_cast<LimitScope>(parse_number(parts[0])), std::move(parts[1])};
}

std::string rate_text(const std::optional<Rate>& rate) {
  if (!rate) return fmt::format("{0}{0}", separator);
  return fmt::format("{1}{0}{2}{0}{3}", separator, rate->tasks, rate->period.count(), rate->burst);
}

Limit parse_limit(std::string_view place, std::string_view text) {
  Limit limit;
  std::tie(limit.scope, limit.name) = parse_place(place);
  auto parts = split(text, 4);
  if (!parts[0].empty()) limit.max_running = static_cast<int>(parse_number(parts[0]));
  if (!parts[1].empty())
    limit.rate = Rate{static_cast<int>(parse_number(parts[1])), Millis{parse_number(parts[2])},
                      static_cast<int>(parse_number(parts[3]))};
  return limit;
}

/// Calls `found(field, value)` for each field of a hash.
template <class F>
void each_field(const Value& hash, F found) {
  for (std::size_t i = 0; i + 1 < hash.size(); i += 2) found(hash[i].text(), hash[i + 1]);
}

}  // namespace

void RedisLimitStore::set(std::span<const Limit> limits) {
  auto arguments = store_.arguments();
  arguments.add(limits.size());
  for (const auto& limit : limits) {
    arguments.add(place_text(limit.scope, limit.name));
    arguments.add(limit.max_running ? std::to_string(*limit.max_running) : std::string{});
    arguments.add(rate_text(limit.rate));
  }
  store_.run(limit_points, scripts::set_limits, arguments);
}

bool RedisLimitStore::remove(LimitScope scope, const std::string& name) {
  auto arguments = store_.arguments().add(place_text(scope, name));
  return store_.run(limit_points, scripts::remove_limit, arguments).number() == 1;
}

std::vector<LimitStatus> RedisLimitStore::list() {
  std::array commands{Command{"HGETALL", store_.keys.key("limits")},
                      Command{"HGETALL", store_.keys.key("running")},
                      Command{"HGETALL", store_.keys.key("buckets")}};
  auto replies = store_.server.call_all(commands);
  std::vector<Limit> limits;
  each_field(replies[0], [&](std::string_view place, const Value& text) {
    limits.push_back(parse_limit(place, text.text()));
  });
  LimitTally tally{std::move(limits)};
  each_field(replies[1], [&](std::string_view name, const Value& count) {
    auto lane = parse_lane(name);
    tally.add_running({lane.queue, lane.kind, lane.key}, count.number());
  });
  each_field(replies[2], [&](std::string_view place, const Value& text) {
    auto [scope, name] = parse_place(place);
    auto parts = split(text.text(), 2);
    tally.add_bucket(scope, name, {parse_number(parts[0]), wall_time(parse_number(parts[1]))});
  });
  return tally.statuses(store_.clock().wall());
}

}  // namespace holdfast::redis
