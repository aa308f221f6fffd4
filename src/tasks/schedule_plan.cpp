#include "tasks/schedule_plan.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <deque>

#include "tasks/cron.hpp"

namespace holdfast {

namespace {

constexpr std::size_t time_bytes = 6;

/// The times to fire, and how it goes on.
struct Times {
  std::vector<WallTime> fired{};
  std::optional<WallTime> next{};
};

Times skip_missed(const Schedule& schedule, const Cron& cron, const TimeZone& zone, WallTime now) {
  auto latest = std::optional{*schedule.next};
  if (now - *latest >= late_not_missed) latest = cron.next_after(now - late_not_missed, zone);
  Times times{.next = cron.next_after(now, zone)};
  if (latest && *latest <= now) times.fired.push_back(*latest);
  return times;
}

Times all_missed(const Schedule& schedule, const Cron& cron, const TimeZone& zone, WallTime now) {
  std::deque<WallTime> missed;
  auto time = schedule.next;
  for (; time && *time <= now; time = cron.next_after(*time, zone)) {
    missed.push_back(*time);
    if (missed.size() > most_missed) missed.pop_front();
  }
  auto count = static_cast<std::ptrdiff_t>(std::min(missed.size(), fired_at_once));
  Times times{{missed.begin(), missed.begin() + count}, time};
  if (missed.size() > fired_at_once) times.next = missed[fired_at_once];
  return times;
}

Times times_of(const Schedule& schedule, WallTime now) {
  Cron cron{schedule.cron};
  TimeZone zone{schedule.zone};
  switch (schedule.missed) {
    case MissedRuns::skip:
      return skip_missed(schedule, cron, zone, now);
    case MissedRuns::all:
      return all_missed(schedule, cron, zone, now);
    case MissedRuns::once:
      break;
  }
  return {{*schedule.next}, cron.next_after(now, zone)};
}

NewTask task_for(const Schedule& schedule, WallTime time) {
  auto task = schedule.task;
  task.options.id = scheduled_task_id(schedule.name, time);
  task.options.tags.push_back("schedule-" + schedule.name);
  return task;
}

}  // namespace

ScheduleChange fire(const Schedule& schedule, WallTime now) {
  auto times = times_of(schedule, now);
  ScheduleChange change{.to = schedule, .seen = schedule.revision};
  change.to.next = times.next;
  change.to.revision = next_revision(schedule.revision, now);
  for (auto time : times.fired) change.fires.push_back(task_for(schedule, time));
  if (!times.fired.empty()) change.to.last_fired = times.fired.back();
  return change;
}

std::optional<WallTime> next_time(const Schedule& schedule, WallTime now) {
  return Cron{schedule.cron}.next_after(now, TimeZone{schedule.zone});
}

std::int64_t next_revision(std::int64_t seen, WallTime now) {
  return std::max(seen + 1, std::int64_t{now.time_since_epoch().count()} * 1'000);
}

TaskId scheduled_task_id(std::string_view schedule, WallTime time) {
  TaskId id;
  auto millis = static_cast<std::uint64_t>(time.time_since_epoch().count());
  for (std::size_t i = time_bytes; i-- > 0; millis >>= 8) id.bytes[i] = millis & 0xff;
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(schedule.data(), schedule.size()));
  std::copy_n(hash.digest, id.bytes.size() - time_bytes, id.bytes.begin() + time_bytes);
  return id;
}

WallTime scheduled_time(TaskId task) {
  std::int64_t millis = 0;
  for (std::size_t i = 0; i < time_bytes; ++i) millis = millis << 8 | task.bytes[i];
  return WallTime{Millis{millis}};
}

}  // namespace holdfast
