#include <holdfast/schedule.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <holdfast/error.hpp>
#include <holdfast/tasks.hpp>

#include "recovery/plain_text.hpp"
#include "tasks/engine_parts.hpp"
#include "tasks/schedule_plan.hpp"
#include "tasks/schedule_text.hpp"

namespace holdfast {

namespace {

constexpr std::size_t longest_schedule_name = 40;
constexpr std::array<std::string_view, 3> missed_names{"skip", "once", "all"};

std::optional<Schedule> find(ScheduleStore& store, const std::string& name) {
  for (auto& schedule : store.list())
    if (schedule.name == name) return std::move(schedule);
  return {};
}

bool same_definition(const Schedule& a, const Schedule& b) {
  return a.cron == b.cron && a.zone == b.zone && a.missed == b.missed &&
         a.task.kind == b.task.kind && a.task.payload == b.task.payload &&
         options_text(a.task.options) == options_text(b.task.options);
}

void check_schedule_name(std::string_view name) {
  bool plain_name = std::ranges::all_of(
      name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  if (!name.empty() && name.size() <= longest_schedule_name && plain_name) return;
  throw InvalidRequest{
      fmt::format("the name of the schedule is '{}'; 1 to {} characters out of a-z, 0-9 and '-' "
                  "are allowed",
                  plain(name), longest_schedule_name)};
}

}  // namespace

std::string_view to_string(MissedRuns missed) {
  return missed_names[static_cast<std::size_t>(missed)];
}

std::optional<MissedRuns> parse_missed_runs(std::string_view text) {
  for (auto missed : {MissedRuns::skip, MissedRuns::once, MissedRuns::all})
    if (to_string(missed) == text) return missed;
  return {};
}

void validate(const Schedule& schedule, const Settings& settings) {
  check_schedule_name(schedule.name);
  const auto& options = schedule.task.options;
  if (options.id || options.at || !options.after.empty())
    throw InvalidRequest{
        "the task of a schedule has no id, time or dependencies of its own: each run would have "
        "the same"};
  auto with_tag = schedule.task;
  with_tag.options.tags.push_back("schedule-" + schedule.name);
  validate(with_tag, settings);
  if (!next_time(schedule, WallTime{}))
    throw InvalidRequest{
        fmt::format("the cron text '{}' names no day that ever comes", plain(schedule.cron))};
}

Schedules::Added Schedules::add(Schedule schedule) {
  validate(schedule, engine_.settings());
  require_not_moved(engine_.parts());
  auto& store = engine_.parts().schedules();
  while (true) {
    auto now = engine_.parts().clock().wall();
    auto before = find(store, schedule.name);
    if (before && same_definition(*before, schedule)) return Added::as_it_was;
    auto seen = before ? before->revision : 0;
    if (before) {
      schedule.paused = before->paused;
      schedule.last_fired = before->last_fired;
    }
    schedule.next = next_time(schedule, now);
    schedule.revision = next_revision(seen, now);
    ScheduleChange change{.to = schedule, .seen = seen};
    if (store.apply(std::span{&change, 1}).front().accepted)
      return before ? Added::changed : Added::created;
  }
}

std::vector<Schedule> Schedules::list() const { return engine_.parts().schedules().list(); }

bool Schedules::set_paused(const std::string& name, bool paused) {
  auto& store = engine_.parts().schedules();
  while (true) {
    auto schedule = find(store, name);
    if (!schedule) return false;
    if (schedule->paused == paused) return true;
    auto now = engine_.parts().clock().wall();
    ScheduleChange change{.to = *schedule, .seen = schedule->revision};
    change.to.paused = paused;
    if (!paused) change.to.next = next_time(*schedule, now);
    change.to.revision = next_revision(schedule->revision, now);
    if (store.apply(std::span{&change, 1}).front().accepted) return true;
  }
}

bool Schedules::pause(const std::string& name) { return set_paused(name, true); }
bool Schedules::resume(const std::string& name) { return set_paused(name, false); }

bool Schedules::remove(const std::string& name) { return engine_.parts().schedules().remove(name); }

}  // namespace holdfast
