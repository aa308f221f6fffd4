#include "engines/redis/schedules.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "engines/redis/task_store.hpp"
#include "tasks/schedule_text.hpp"

namespace holdfast::redis {

namespace {

constexpr Store::KillPoints schedule_points{KillPoint::schedule_before_commit,
                                            KillPoint::schedule_after_commit};

std::string time_text(const std::optional<WallTime>& time) {
  return time ? std::to_string(time->time_since_epoch().count()) : std::string{};
}

std::optional<WallTime> parse_time(const std::string& text) {
  if (text.empty()) return {};
  return wall_time(parse_number(text));
}

/// All but the name and the revision, which comes first where the whole is kept.
std::string schedule_text(const Schedule& schedule) {
  return fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}{0}{6}{0}{7}{0}{8}{0}{9}", separator,
                     static_cast<int>(schedule.missed), schedule.paused ? 1 : 0,
                     time_text(schedule.next), time_text(schedule.last_fired), schedule.cron,
                     schedule.zone, schedule.task.kind, options_text(schedule.task.options),
                     schedule.task.payload);
}

/// Nothing for a text that is not one of ours: what is damaged must not be run.
std::optional<Schedule> parse_schedule(const std::string& name, std::string_view text) {
  auto parts = split(text, 10);
  Schedule schedule;
  schedule.name = name;
  schedule.revision = parse_number(parts[0]);
  schedule.missed = static_cast<MissedRuns>(parse_number(parts[1]));
  schedule.paused = parts[2] == "1";
  schedule.next = parse_time(parts[3]);
  schedule.last_fired = parse_time(parts[4]);
  schedule.cron = parts[5];
  schedule.zone = parts[6];
  schedule.task.kind = parts[7];
  schedule.task.payload = parts[9];
  try {
    schedule.task.options = parse_options(parts[8]);
  } catch (const std::exception&) {
    return {};
  }
  return schedule;
}

/// Returns the ids of the tasks that it fires.
std::vector<TaskId> add(Arguments& arguments, const ScheduleChange& change) {
  const auto& to = change.to;
  arguments.add(to.name).add(change.seen).add(to.revision).add(schedule_text(to));
  arguments.add(to.paused ? std::string{} : time_text(to.next));
  std::vector<const NewTask*> fires;
  for (const auto& task : change.fires) fires.push_back(&task);
  return add_tasks(arguments, fires);
}

}  // namespace

std::vector<Schedule> RedisScheduleStore::list() {
  auto all = store_.server.call({"HGETALL", store_.keys.key("schedules")});
  std::vector<Schedule> schedules;
  for (std::size_t i = 0; i + 1 < all.size(); i += 2)
    if (auto one = parse_schedule(all[i].string(), all[i + 1].text()))
      schedules.push_back(std::move(*one));
  std::ranges::sort(schedules, {}, &Schedule::name);
  return schedules;
}

std::vector<Schedule> RedisScheduleStore::due(WallTime until, int limit) {
  auto names = store_.server.call({"ZRANGEBYSCORE", store_.keys.key("due"), "-inf",
                                   std::to_string(until.time_since_epoch().count()), "LIMIT", "0",
                                   std::to_string(limit)});
  if (names.size() == 0) return {};
  Command read{"HMGET", store_.keys.key("schedules")};
  for (std::size_t i = 0; i < names.size(); ++i) read.push_back(names[i].string());
  auto texts = store_.server.call(read);
  std::vector<Schedule> schedules;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto one = parse_schedule(names[i].string(), texts[i].text());
    // It may have been changed between the two reads.
    if (one && !one->paused && one->next && *one->next <= until)
      schedules.push_back(std::move(*one));
  }
  return schedules;
}

std::vector<AppliedChange> RedisScheduleStore::apply(std::span<const ScheduleChange> changes) {
  auto arguments = store_.arguments();
  arguments.add(changes.size());
  std::vector<std::vector<TaskId>> ids;
  for (const auto& change : changes) ids.push_back(add(arguments, change));
  auto answer = store_.run(schedule_points, scripts::apply_schedules, arguments);
  expect_valid(answer, store_.server.address().name());
  std::vector<AppliedChange> applied;
  for (std::size_t i = 0; i < answer[1].size(); ++i) {
    auto one = answer[1][i];
    applied.push_back({one[0].number() == 1, {}});
    if (applied.back().accepted) applied.back().inserted = read_inserted(ids[i], one[1]);
  }
  return applied;
}

bool RedisScheduleStore::remove(const std::string& name) {
  auto arguments = store_.arguments().add(name);
  return store_.run(schedule_points, scripts::remove_schedule, arguments).number() == 1;
}

}  // namespace holdfast::redis
