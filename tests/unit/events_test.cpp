#include <holdfast/events.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast {
namespace {

using testing::HasSubstr;

const TaskId task = TaskId::make();
const WorkerId worker = WorkerId::make();

Event changed(std::optional<TaskState> from, TaskState to, std::string reason = {}) {
  return TaskChanged{task, "email", {from, to, "worker/x", std::move(reason), Token{1}, 1, {}}};
}

TEST(Events, EverySubscriberHearsEveryEventInOrder) {
  Events events;
  std::vector<std::string> heard;
  EXPECT_FALSE(events.heard());
  events.subscribe([&](const Event& event) { heard.push_back("first " + to_text(event)); });
  events.subscribe([&](const Event& event) { heard.push_back("second " + to_text(event)); });
  EXPECT_TRUE(events.heard());
  events.emit(RecoveryStarted{"watch"});
  EXPECT_THAT(heard, testing::ElementsAre("first recovery started (watch)",
                                          "second recovery started (watch)"));
}

TEST(Events, ASubscriberMayEmitAndSubscribe) {
  Events events;
  int heard = 0;
  events.subscribe([&](const Event& event) {
    ++heard;
    if (!std::holds_alternative<RecoveryStarted>(event)) return;
    events.subscribe([&](const Event&) { heard += 100; });
    events.emit(WorkerEnlisted{worker});
  });
  events.emit(RecoveryStarted{"watch"});
  EXPECT_EQ(heard, 102);
}

TEST(Events, SeverityTellsTroubleFromThePlainLifeOfATask) {
  EXPECT_EQ(severity(changed({}, TaskState::pending)), Severity::debug);
  EXPECT_EQ(severity(changed(TaskState::pending, TaskState::running)), Severity::debug);
  EXPECT_EQ(severity(changed(TaskState::running, TaskState::completed)), Severity::debug);
  EXPECT_EQ(severity(changed(TaskState::running, TaskState::pending)), Severity::info);
  EXPECT_EQ(severity(changed(TaskState::running, TaskState::failed)), Severity::warning);
  EXPECT_EQ(severity(changed(TaskState::running, TaskState::held)), Severity::warning);
  EXPECT_EQ(severity(RecoveryCompleted{}), Severity::debug);
  RecoveryReport found;
  found.dead_workers.emplace_back();
  EXPECT_EQ(severity(RecoveryCompleted{found}), Severity::info);
  EXPECT_EQ(severity(StoreTrouble{}), Severity::error);
  EXPECT_EQ(severity(StoreWarning{}), Severity::warning);
}

TEST(Events, EachIsASentenceThatNamesWhatItIsAbout) {
  RecoveryReport report;
  report.trigger = "start-up";
  report.duration = Millis{1'200};
  report.dead_workers.emplace_back();
  for (bool success : {true, true, false}) {
    RecoveredTask taken;
    taken.success = success;
    report.add(taken);
  }
  DeadWorker dead{worker, "box", 17, {}, "its lock is free", "ended by signal 9"};
  const std::pair<Event, std::vector<std::string>> cases[] = {
      {changed(TaskState::running, TaskState::failed, "No route."),
       {task.text(), "email", "running -> failed", "worker/x", "No route."}},
      {changed({}, TaskState::blocked), {"new -> blocked"}},
      {RecoveryStarted{"operator"}, {"operator"}},
      {RecoveryCompleted{}, {"nothing"}},
      {RecoveryCompleted{report},
       {"start-up", "2 tasks", "1 dead worker ", "1.2 s", "1 could not"}},
      {WorkerEnlisted{worker}, {worker.text()}},
      {WorkerDied{dead}, {worker.text(), "box", "17", "its lock is free; ended by signal 9"}},
      {WorkerCleared{worker}, {worker.text()}},
      {StaleWriteRefused{task, Token{42}, "settle"}, {task.text(), "42", "settle"}},
      {HeartbeatFailed{worker, "disk full"}, {worker.text(), "disk full"}},
      {LeasesAbandoned{worker, 1}, {worker.text(), "1 task"}},
      {StoreTrouble{"claim", "busy"}, {"claim", "busy"}},
      {StoreWarning{"it may forget"}, {"it may forget"}},
      {HandlerIgnoresStop{task, "email"}, {task.text(), "email"}},
      {KindPaused{worker, "email", "no sendmail", std::chrono::seconds{2}},
       {worker.text(), "email", "no sendmail", "2 s"}},
      {KindResumed{worker, "email"}, {worker.text(), "email"}},
      {ScheduleFired{"nightly", task}, {"nightly", task.text()}},
      {ScheduleBroken{"nightly", "no such zone"}, {"nightly", "no such zone"}},
      {TransactionResumed{"tx-1", "orders", "paid"}, {"tx-1", "orders", "paid"}},
      {TransactionMoved{"tx-1", "orders", "placed", "paid", "late"}, {"tx-1", "placed", "late"}},
      {QueueWatched{"tx-1", "orders", "mail", QueueWatched::Change::unreadable, "541"},
       {"tx-1", "orders", "mail", "cannot be read", "541"}},
      {MessageRejected{"tx-1", "orders", "mail", "m-7", "no sense"},
       {"tx-1", "orders", "mail", "m-7", "no sense"}},
      {TransactionNoted{"tx-1", "orders", "part 3 was there"}, {"tx-1", "part 3 was there"}},
  };
  for (const auto& [event, parts] : cases)
    for (const auto& part : parts) EXPECT_THAT(to_text(event), HasSubstr(part));
}

TEST(Events, WhatAHandlerSaidCannotSteerATerminalOrForgeALine) {
  auto text = to_text(changed(TaskState::running, TaskState::failed, "oops\nerror: \x1b[2J"));
  EXPECT_THAT(text, HasSubstr("oops\\nerror: \\x1b[2J"));
}

}  // namespace
}  // namespace holdfast
