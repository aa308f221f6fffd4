#include "crash/driver_calendar.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <holdfast/schedule.hpp>
#include <holdfast/worker.hpp>

#include "crash/driver_tasks.hpp"
#include "engines/sqlite/engine.hpp"
#include "tasks/schedule_plan.hpp"
#include "tasks/scheduler.hpp"

namespace holdfast::test {

namespace {

/// Whoever has fired a time says so; nobody else may.
void say_what_is_fired(const Engine& engine, const Journal& journal) {
  engine.events().subscribe([&journal](const Event& event) {
    if (auto* fired = std::get_if<ScheduleFired>(&event)) journal.say(Said::enqueued, fired->task);
  });
}

}  // namespace

void plan(const Engine& engine) {
  auto& store = engine.parts().schedules();
  auto now = engine.parts().clock().wall();
  ScheduleChange change;
  for (const auto& before : store.list()) change.seen = before.revision;
  change.to.name = "new-year";
  change.to.cron = "@yearly";
  change.to.task = {"order", to_payload(Order{}), {.max_attempts = 100}};
  change.to.next = now - std::chrono::minutes{10};
  change.to.revision = next_revision(change.seen, now);
  store.apply(std::span{&change, 1});
}

void fire_what_is_due(const Engine& engine, const Journal& journal) {
  say_what_is_fired(engine, journal);
  auto& parts = engine.parts();
  for (const auto& schedule : parts.schedules().due(parts.clock().wall(), 100))
    for (const auto& task : fire(schedule, parts.clock().wall()).fires)
      journal.say(Said::enqueueing, *task.options.id);
  Scheduler{parts}.run_once();
}

void keep_a_fast_calendar(const std::string& database, const Settings& settings, WallTime origin,
                          int speed, const Journal& journal) {
  FastClock clock{origin, speed};
  Engine engine{sqlite::open_store(database, settings, clock)};
  say_what_is_fired(engine, journal);
  Schedules{engine}.add({.name = "tick",
                         .cron = "* * * * *",
                         .task = {"tick", "{}", {.max_attempts = 1'000}},
                         .missed = MissedRuns::all});
  Tasks tasks{engine};
  tasks.on_json("tick", [](Attempt&) { return done; });
  // A worker looks once a second of the real clock, which is many minutes here.
  std::jthread often{[&](std::stop_token stop) {
    Scheduler scheduler{engine.parts()};
    std::mutex mutex;
    std::unique_lock lock{mutex};
    std::condition_variable_any ended;
    do {
      scheduler.run_once();
    } while (!ended.wait_for(lock, stop, Millis{2}, [&] { return stop.stop_requested(); }));
  }};
  run(tasks);
}

}  // namespace holdfast::test
