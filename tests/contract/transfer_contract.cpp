#include "contract/transfer_contract.hpp"

#include <gmock/gmock.h>

#include "tasks/schedule_plan.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

void TransferContract::hold(TaskId id, const std::string& cause) {
  TaskAdmin::Move move{.to = TaskState::held,
                       .from = {TaskState::pending, TaskState::blocked},
                       .actor = "operator",
                       .reason = cause};
  engine().admin().move(TaskFilter{.ids = {id}}, move);
}

Parcel TransferContract::parcel(TaskState state) {
  Parcel parcel;
  auto& task = parcel.task;
  task.id = TaskId::make();
  task.kind = "a";
  task.queue = "mail";
  task.state = state;
  task.priority = 2;
  task.payload = R"({"n":1})";
  task.created_at = task.run_at = clock().wall() - 1h;
  task.timeout = 5min;
  return parcel;
}

TEST_P(TransferContract, EverythingComesThrough) {
  TaskOptions options{.queue = "mail", .priority = 2, .max_attempts = 7};
  options.backoff = {.first = 3s, .factor = 1.5, .longest = 1min, .jitter = 0};
  options.unique_key = "only one";
  options.limit_key = "acme";
  options.tags = {"x", "y"};
  auto id = insert("a", options, R"({"n":1})");
  auto worker = enlist();
  auto claimed = claim_one(worker);
  tasks().record(std::vector<Note>{{claimed.lease, EffectNote{"charge", "17"}},
                                   {claimed.lease, LogNote{"charging", 1}}});
  settle({.lease = claimed.lease,
          .to = TaskState::pending,
          .reason = "no answer",
          .attempt = 1,
          .delay = 1h});
  hold(id);
  auto before = pack(id);
  EXPECT_EQ(before.backoff.first, 3s);
  EXPECT_THAT(before.effects, ElementsAre(Pair("charge", "17")));
  EXPECT_THAT(before.history, SizeIs(2));
  EXPECT_EQ(forget(id), 1);
  EXPECT_THAT(engine().admin().search({}, {}), IsEmpty());
  before.task.state = TaskState::pending;
  before.task.cause.clear();
  EXPECT_EQ(adopt(before), Adopted::created);
  reopen();
  auto after = pack(id);
  EXPECT_EQ(after.task.state, TaskState::pending);
  EXPECT_EQ(after.task.queue, "mail");
  EXPECT_EQ(after.task.priority, 2);
  EXPECT_EQ(after.task.payload, R"({"n":1})");
  EXPECT_EQ(after.task.unique_key, "only one");
  EXPECT_EQ(after.task.limit_key, "acme");
  EXPECT_THAT(after.task.tags, ElementsAre("x", "y"));
  EXPECT_EQ(after.task.attempt, 1);
  EXPECT_EQ(after.task.max_attempts, 7);
  EXPECT_EQ(after.task.run_at, clock().wall() + 1h) << "not before its time";
  EXPECT_EQ(after.task.created_at, before.task.created_at);
  EXPECT_EQ(after.task.error, "no answer");
  EXPECT_EQ(after.backoff.longest, 1min);
  EXPECT_EQ(after.effects, before.effects);
  ASSERT_THAT(after.logs, SizeIs(1));
  EXPECT_EQ(after.logs[0].text, "charging");
  ASSERT_THAT(after.history, SizeIs(2));
  EXPECT_EQ(after.history[0].transition.reason, "no answer");
  EXPECT_EQ(after.history[0].claimed_at, before.history[0].claimed_at);
  worker = enlist();
  EXPECT_THAT(claim(worker), IsEmpty());
  clock().advance(1h);
  auto again = claim_one(worker);
  EXPECT_GT(again.lease.token, claimed.lease.token) << "who had it elsewhere has a stale token";
  EXPECT_EQ(again.attempt, 2);
  auto kept =
      tasks().record(std::vector<Note>{{again.lease, EffectNote{"charge", "18"}}}).at(0).value;
  EXPECT_EQ(kept, "17") << "what was recorded once stays";
}

TEST_P(TransferContract, WhatIsThereIsLeftAsItIs) {
  auto one = parcel();
  EXPECT_EQ(adopt(one), Adopted::created);
  complete(claim_one(enlist()));
  EXPECT_EQ(adopt(one), Adopted::there);
  EXPECT_EQ(state(one.task.id), TaskState::completed);
  EXPECT_EQ(engine().admin().count({}), 1);
}

TEST_P(TransferContract, AKeyThatIsTakenKeepsItOut) {
  auto first = insert("a", {.unique_key = "k"});
  auto one = parcel();
  one.task.unique_key = "k";
  EXPECT_EQ(adopt(one), Adopted::key_taken);
  EXPECT_EQ(engine().admin().count({}), 1);
  auto over = parcel(TaskState::failed);
  over.task.unique_key = "k";
  over.task.finished_at = clock().wall();
  EXPECT_EQ(adopt(over), Adopted::created) << "a finished one has no claim to it";
  cancel(first);
  EXPECT_EQ(adopt(one), Adopted::created);
  EXPECT_EQ(insert("a", {.unique_key = "k"}), one.task.id);
}

TEST_P(TransferContract, EachStateIsKept) {
  auto held = parcel(TaskState::held), failed = parcel(TaskState::failed);
  auto completed = parcel(TaskState::completed);
  held.task.cause = "a person is to look";
  failed.task.error = "broke";
  failed.task.finished_at = completed.task.finished_at = clock().wall() - 1min;
  completed.task.result = "17";
  transfer().adopt(std::vector{held, failed, completed});
  EXPECT_THAT(claim(enlist(), 10), IsEmpty());
  EXPECT_EQ(record(held.task.id).cause, "a person is to look");
  EXPECT_EQ(record(failed.task.id).error, "broke");
  EXPECT_EQ(record(failed.task.id).finished_at, clock().wall() - 1min);
  EXPECT_EQ(record(completed.task.id).result, "17");
  EXPECT_EQ(engine().admin().count({.states = {TaskState::held}}), 1);
  Inspector{shared_engine()}.retry({.states = {TaskState::failed, TaskState::held}});
  EXPECT_THAT(claim(enlist(), 10), SizeIs(2));
}

TEST_P(TransferContract, WhatWaitsGoesOnWaiting) {
  auto gate = insert("gate");
  auto first = parcel(), second = parcel(TaskState::blocked), free = parcel(TaskState::blocked);
  first.task.waits_for = {gate};
  second.task.waits_for = {gate, first.task.id};
  transfer().adopt(std::vector{first, second, free});
  EXPECT_EQ(state(first.task.id), TaskState::blocked);
  EXPECT_EQ(state(second.task.id), TaskState::blocked);
  EXPECT_EQ(state(free.task.id), TaskState::pending) << "there is nothing to wait for";
  auto worker = enlist();
  auto only_gate = request(worker);
  only_gate.kinds = {"gate"};
  complete(tasks().exchange({.claim = only_gate}).claimed.at(0));
  EXPECT_EQ(state(first.task.id), TaskState::pending);
  EXPECT_EQ(state(second.task.id), TaskState::blocked);
  auto lost = parcel();
  lost.task.waits_for = {TaskId::make()};
  EXPECT_THROW(transfer().adopt(std::vector{parcel(), lost}), InvalidRequest);
  EXPECT_EQ(engine().admin().count({}), 4) << "all or none";
}

TEST_P(TransferContract, OnlyWhatIsHeldOrFinishedIsForgotten) {
  auto pending = insert("a"), running = insert("b", {.priority = 1});
  auto held = insert("c", {.unique_key = "k"});
  hold(held);
  claim_one(enlist());
  EXPECT_EQ(transfer().forget(std::vector{pending, running, held, TaskId::make()}), 1);
  EXPECT_EQ(state(pending), TaskState::pending);
  EXPECT_EQ(state(running), TaskState::running);
  EXPECT_NE(insert("c", {.unique_key = "k"}), held) << "its key is free";
}

TEST_P(TransferContract, WhoWaitsForWhatIsForgottenHearsOfItsEnd) {
  constexpr int many = 1'200;
  auto gate = insert("gate");
  TaskOptions options;
  options.after = {gate};
  tasks().insert(std::vector<NewTask>(many, NewTask{"a", "{}", options}));
  auto only_gate = request(enlist());
  only_gate.kinds = {"gate"};
  complete(tasks().exchange({.claim = only_gate}).claimed.at(0));
  int rounds = 0;
  while (forget(gate) == 0) ASSERT_LT(++rounds, 10);
  EXPECT_EQ(engine().admin().count({.states = {TaskState::pending}}), many);
  EXPECT_EQ(engine().admin().count({}), many);
}

TEST_P(TransferContract, AStoreHasAnIdOfItsOwnThatStays) {
  auto id = transfer().store_id();
  EXPECT_FALSE(id.empty());
  EXPECT_EQ(transfer().store_id(), id);
  reopen();
  EXPECT_EQ(transfer().store_id(), id);
  transfer().set_note(MoveNote{.to = "elsewhere:1", .move = "m"});
  transfer().set_note({});
  reopen();
  EXPECT_EQ(transfer().store_id(), id) << "moving it away and back changes nothing";
}

TEST_P(TransferContract, AClosedStoreTakesNothingNewAndLetsRunningTasksEnd) {
  EXPECT_FALSE(transfer().note());
  insert("a");
  auto running = claim_one(enlist());
  MoveNote note{.to = "elsewhere:1", .move = "m", .paused = {"slow", "mail"}};
  transfer().set_note(note);
  insert("a");
  note.closed = true;
  transfer().set_note(note);
  reopen();
  auto found = transfer().note();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->to, "elsewhere:1");
  EXPECT_EQ(found->move, "m");
  EXPECT_THAT(found->paused, ElementsAre("slow", "mail"));
  EXPECT_TRUE(found->closed);
  try {
    insert("a");
    FAIL() << "it is closed";
  } catch (const StoreMoved& moved) {
    EXPECT_THAT(moved.what(), HasSubstr("elsewhere:1"));
  }
  Settlement settlement{.lease = running.lease, .attempt = 1};
  settlement.follow_ups = {NewTask{"a", "{}", {.id = TaskId::make()}}};
  EXPECT_EQ(settle(settlement), Settled::accepted);
  EXPECT_EQ(engine().admin().count({}), 3);
  transfer().set_note({});
  EXPECT_FALSE(transfer().note());
  insert("a");
}

TEST_P(TransferContract, AClosedStoreFiresNothing) {
  if (!engine().schedule_store()) return;
  Schedule schedule{.name = "s", .cron = "* * * * *", .task = {"a", "{}"}};
  schedule.next = clock().wall();
  schedule.revision = 1;
  ScheduleChange add{.to = schedule};
  engine().schedules().apply(std::span{&add, 1});
  transfer().set_note(MoveNote{.to = "elsewhere:1", .move = "m", .closed = true});
  auto due = fire(schedule, clock().wall());
  EXPECT_THROW(engine().schedules().apply(std::span{&due, 1}), StoreMoved);
  EXPECT_EQ(engine().schedules().list().at(0).revision, 1);
}

}  // namespace holdfast::test
