#include "tasks/scheduler.hpp"

#include <algorithm>

#include <holdfast/error.hpp>

#include "recovery/actors.hpp"
#include "tasks/schedule_plan.hpp"

namespace holdfast {

namespace {

/// Schedules may be added and clocks may be set at any time, so this is how often we look anyway.
constexpr Millis longest_sleep{1'000};
constexpr int schedules_at_once = 100;

}  // namespace

Scheduler::Round Scheduler::run_once() {
  auto* store = parts_.schedule_store();
  if (!store) return {.wait = std::chrono::hours{1}};
  auto now = parts_.clock().wall();
  std::vector<ScheduleChange> changes;
  for (const auto& schedule : store->due(now, schedules_at_once)) {
    try {
      changes.push_back(fire(schedule, now));
    } catch (const InvalidRequest& error) {
      // Written by a newer version, or about a zone that this machine does not have. Another
      // worker may know better, and the others are not to wait for it.
      complain(schedule, error.what());
    }
  }
  Round round;
  bool any_accepted = false;
  auto applied = changes.empty() ? std::vector<AppliedChange>{} : store->apply(changes);
  for (std::size_t i = 0; i < applied.size(); ++i) {
    any_accepted |= applied[i].accepted;
    for (const auto& one : applied[i].inserted) {
      if (!one.created) continue;
      ++round.fired;
      tell(changes[i].to, one, now);
    }
  }
  round.wait = time_to_wait(*store, any_accepted);
  return round;
}

void Scheduler::tell(const Schedule& schedule, const Inserted& task, WallTime now) {
  Transition step{{}, task.state, std::string{actors::schedule}, {}, {}, 0, now};
  parts_.events().emit(TaskChanged{task.id, schedule.task.kind, std::move(step)});
  parts_.events().emit(ScheduleFired{schedule.name, task.id});
}

Millis Scheduler::time_to_wait(ScheduleStore& store, bool fired) {
  auto next = store.due(WallTime::max(), 1);
  if (next.empty()) return longest_sleep;
  auto until = *next.front().next - parts_.clock().wall();
  // What is due and was not fired just now will not be the next time either.
  if (until <= Millis{0}) return fired ? Millis{0} : longest_sleep;
  return std::min(until, longest_sleep);
}

void Scheduler::complain(const Schedule& schedule, const std::string& why) {
  if (!complained_.emplace(schedule.name, schedule.revision).second) return;
  parts_.events().emit(ScheduleBroken{schedule.name, why});
}

}  // namespace holdfast
