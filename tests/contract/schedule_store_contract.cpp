#include "contract/schedule_store_contract.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "tasks/schedule_plan.hpp"
#include "tasks/scheduler.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Schedule ScheduleStoreContract::schedule(const std::string& name, Millis in) {
  Schedule schedule;
  schedule.name = name;
  schedule.cron = "* * * * *";
  schedule.task = {"a", R"({"n":1})"};
  schedule.next = clock().wall() + in;
  schedule.revision = 1;
  return schedule;
}

bool ScheduleStoreContract::put(const Schedule& schedule, std::int64_t seen) {
  ScheduleChange change{.to = schedule, .seen = seen};
  return schedules().apply(std::span{&change, 1}).at(0).accepted;
}

TEST_P(ScheduleStoreContract, WhatIsWrittenComesBackAlsoAfterARestart) {
  auto written = schedule("nightly", 1h);
  written.zone = "Europe/Berlin";
  written.missed = MissedRuns::all;
  written.task.options = {.queue = "slow", .priority = 1, .limit_key = "acme", .tags = {"x"}};
  written.last_fired = clock().wall() - 1h;
  ASSERT_TRUE(put(written));
  ASSERT_TRUE(put(schedule("a-second")));
  reopen();
  auto found = schedules().list();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].name, "a-second");
  const auto& read = found[1];
  EXPECT_EQ(read.name, "nightly");
  EXPECT_EQ(read.cron, written.cron);
  EXPECT_EQ(read.zone, written.zone);
  EXPECT_EQ(read.missed, MissedRuns::all);
  EXPECT_EQ(read.task.kind, "a");
  EXPECT_EQ(read.task.payload, R"({"n":1})");
  EXPECT_EQ(read.task.options.queue, "slow");
  EXPECT_EQ(read.task.options.limit_key, "acme");
  EXPECT_THAT(read.task.options.tags, ElementsAre("x"));
  EXPECT_EQ(read.next, written.next);
  EXPECT_EQ(read.last_fired, written.last_fired);
  EXPECT_EQ(read.revision, 1);
  EXPECT_FALSE(read.paused);
}

TEST_P(ScheduleStoreContract, OnlyWhatIsStillAsItWasSeenIsChanged) {
  ASSERT_TRUE(put(schedule("s")));
  EXPECT_FALSE(put(schedule("s"))) << "it exists, and was not seen";
  auto newer = schedule("s", 1h);
  newer.revision = 2;
  EXPECT_FALSE(put(newer, 7));
  EXPECT_TRUE(put(newer, 1));
  EXPECT_FALSE(put(newer, 1));
  EXPECT_EQ(schedules().list().at(0).next, clock().wall() + 1h);
  EXPECT_TRUE(schedules().remove("s"));
  EXPECT_FALSE(schedules().remove("s"));
  EXPECT_FALSE(put(newer, 2)) << "it is gone";
  EXPECT_THAT(schedules().list(), IsEmpty());
}

TEST_P(ScheduleStoreContract, DueAreThoseWhoseTimeHasComeTheEarliestFirst) {
  put(schedule("late", -1h));
  put(schedule("later", -2h));
  put(schedule("now"));
  put(schedule("soon", 1ms));
  auto paused = schedule("paused", -3h);
  paused.paused = true;
  put(paused);
  auto names = [&](WallTime until, int limit) {
    std::vector<std::string> found;
    for (const auto& each : schedules().due(until, limit)) found.push_back(each.name);
    return found;
  };
  EXPECT_THAT(names(clock().wall(), 10), ElementsAre("later", "late", "now"));
  EXPECT_THAT(names(clock().wall(), 2), ElementsAre("later", "late"));
  EXPECT_THAT(names(clock().wall() + 1ms, 10), ElementsAre("later", "late", "now", "soon"));
  EXPECT_THAT(names(WallTime::max(), 1), ElementsAre("later"));
}

TEST_P(ScheduleStoreContract, TasksAreInsertedWithTheChangeOrNotAtAll) {
  put(schedule("s"));
  auto stale = fire(schedule("s"), clock().wall());
  stale.seen = 5;
  auto good = fire(schedule("s"), clock().wall());
  EXPECT_FALSE(schedules().apply(std::vector{stale}).at(0).accepted);
  EXPECT_EQ(count_tasks(), 0);
  EXPECT_TRUE(schedules().apply(std::vector{good}).at(0).accepted);
  EXPECT_EQ(count_tasks(), 1);
  auto id = *good.fires.at(0).options.id;
  EXPECT_EQ(state(id), TaskState::pending);
  EXPECT_THAT(record(id).tags, ElementsAre("schedule-s"));
}

TEST_P(ScheduleStoreContract, ATimeThatWasFiredBeforeIsNotFiredAgain) {
  put(schedule("s"));
  auto first = fire(schedule("s"), clock().wall());
  schedules().apply(std::vector{first});
  schedules().remove("s");
  auto changed = schedule("s");
  changed.task.payload = R"({"n":2})";
  put(changed);
  EXPECT_TRUE(schedules().apply(std::vector{fire(changed, clock().wall())}).at(0).accepted);
  EXPECT_EQ(count_tasks(), 1);
  EXPECT_EQ(record(*first.fires.at(0).options.id).payload, R"({"n":1})");
}

TEST_P(ScheduleStoreContract, AUniqueKeyKeepsARunFromOvertakingTheOneBefore) {
  auto unique = schedule("s");
  unique.task.options.unique_key = "one at a time";
  put(unique);
  std::vector<TaskId> created;
  engine().events().subscribe([&](const Event& event) {
    if (auto* changed = std::get_if<TaskChanged>(&event)) created.push_back(changed->id);
  });
  Scheduler scheduler{engine()};
  EXPECT_EQ(scheduler.run_once().fired, 1);
  clock().advance(1min);
  EXPECT_EQ(scheduler.run_once().fired, 0);
  EXPECT_EQ(count_tasks(), 1);
  complete(claim_one(enlist()));
  clock().advance(1min);
  EXPECT_EQ(scheduler.run_once().fired, 1);
  EXPECT_THAT(created, SizeIs(2)) << "what was created is told, and nothing else";
}

TEST_P(ScheduleStoreContract, OfManyWhoFireOneDoes) {
  constexpr int threads = 6, rounds = 20;
  put(schedule("s"));
  other();
  std::atomic<int> fired{0};
  for (int round = 0; round < rounds; ++round) {
    auto run = [&](EngineParts& parts) { fired += Scheduler{parts}.run_once().fired; };
    {
      std::vector<std::jthread> running;
      for (int i = 0; i < threads; ++i)
        running.emplace_back(run, std::ref(i % 2 ? engine() : other()));
    }
    ASSERT_EQ(fired, round + 1);
    clock().advance(1min);
  }
  EXPECT_EQ(count_tasks(), rounds);
}

TEST_P(ScheduleStoreContract, NewTasksWakeWorkersUp) {
  put(schedule("s"));
  other().tasks().wait_for_work(Millis{0});
  EXPECT_EQ(Scheduler{engine()}.run_once().fired, 1);
  EXPECT_EQ(other().tasks().wait_for_work(30s), Wake::work);
}

TEST_P(ScheduleStoreContract, TheSchedulerKnowsHowLongThereIsNothingToDo) {
  Scheduler scheduler{engine()};
  EXPECT_EQ(scheduler.run_once().wait, 1s);
  put(schedule("s", 300ms));
  EXPECT_EQ(scheduler.run_once().wait, 300ms);
  clock().advance(300ms);
  auto round = scheduler.run_once();
  EXPECT_EQ(round.fired, 1);
  EXPECT_EQ(round.wait, 1s);
}

TEST_P(ScheduleStoreContract, OneThatCannotBeReadIsNamedOnceAndStopsNoOther) {
  auto broken = schedule("broken", -1h);
  broken.zone = "Mars/Base";
  put(broken);
  put(schedule("fine"));
  std::vector<std::string> complaints;
  engine().events().subscribe([&](const Event& event) {
    if (auto* found = std::get_if<ScheduleBroken>(&event)) complaints.push_back(found->schedule);
  });
  Scheduler scheduler{engine()};
  EXPECT_EQ(scheduler.run_once().fired, 1);
  auto idle = scheduler.run_once();
  EXPECT_EQ(idle.fired, 0);
  EXPECT_EQ(idle.wait, 1s) << "no busy loop";
  EXPECT_THAT(complaints, ElementsAre("broken"));
}

TEST_P(ScheduleStoreContract, AddingTheSameAgainChangesNothing) {
  Schedules api{shared_engine()};
  Schedule nightly{.name = "nightly", .cron = "0 3 * * *", .task = {"a", "{}"}};
  EXPECT_EQ(api.add(nightly), Schedules::Added::created);
  auto next = api.list().at(0).next;
  EXPECT_EQ(next, clock().wall() + 3h);
  clock().advance(5h);
  EXPECT_EQ(api.add(nightly), Schedules::Added::as_it_was);
  EXPECT_EQ(api.list().at(0).next, next) << "the missed run is still due";
  nightly.task.payload = "[1]";
  EXPECT_EQ(api.add(nightly), Schedules::Added::changed);
  EXPECT_EQ(api.list().at(0).next, *next + 24h);
}

TEST_P(ScheduleStoreContract, APausedScheduleFiresNothingAndMissesNothing) {
  Schedules api{shared_engine()};
  api.add({.name = "s", .cron = "* * * * *", .task = {"a", "{}"}, .missed = MissedRuns::all});
  EXPECT_TRUE(api.pause("s"));
  EXPECT_TRUE(api.pause("s"));
  EXPECT_FALSE(api.pause("another"));
  clock().advance(10min);
  Scheduler scheduler{engine()};
  EXPECT_EQ(scheduler.run_once().fired, 0);
  EXPECT_TRUE(api.resume("s"));
  EXPECT_EQ(scheduler.run_once().fired, 0);
  clock().advance(1min);
  EXPECT_EQ(scheduler.run_once().fired, 1);
  EXPECT_TRUE(api.remove("s"));
  EXPECT_FALSE(api.remove("s"));
}

}  // namespace holdfast::test
