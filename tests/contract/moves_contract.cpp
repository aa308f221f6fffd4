#include <gmock/gmock.h>
#include <holdfast/inspector.hpp>

#include "contract/task_admin_contract.hpp"

namespace holdfast::test {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_P(TaskAdminContract, CancelledTaskDoesNotRun) {
  auto id = insert("a");
  EXPECT_EQ(cancel(id), 1);
  EXPECT_EQ(state(id), TaskState::cancelled);
  EXPECT_EQ(record(id).finished_at, clock().wall());
  EXPECT_THAT(claim(enlist()), IsEmpty());
  EXPECT_EQ(cancel(id), 0) << "it is over";
}

TEST_P(TaskAdminContract, MovesAreRecordedWithActorReasonAndTime) {
  auto id = insert("a");
  cancel(id);
  clock().advance(seconds{1});
  retry(id);
  auto history = admin().recorded_history(id);
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0].transition.from, TaskState::pending);
  EXPECT_EQ(history[0].transition.to, TaskState::cancelled);
  EXPECT_EQ(history[0].transition.actor, "operator");
  EXPECT_EQ(history[0].transition.reason, "cancelled by an operator");
  EXPECT_EQ(history[1].transition.to, TaskState::pending);
  EXPECT_EQ(history[1].transition.at, clock().wall());
  EXPECT_FALSE(history[1].claimed_at) << "no attempt ended";
}

TEST_P(TaskAdminContract, StretchesOfAHistoryAreReadInOrder) {
  auto id = insert("a");
  for (int i = 0; i < 3; ++i) {
    hold(id, std::to_string(i));
    retry(id);
  }
  EXPECT_EQ(admin().recorded_steps(id), 6);
  EXPECT_EQ(admin().recorded_steps(TaskId::make()), 0);
  const auto states = [&](Stretch stretch) {
    std::vector<TaskState> found;
    for (const auto& row : admin().recorded_history(id, stretch))
      found.push_back(row.transition.to);
    return found;
  };
  const auto held = TaskState::held, pending = TaskState::pending;
  EXPECT_THAT(states({}), testing::ElementsAre(held, pending, held, pending, held, pending));
  EXPECT_THAT(states({1, 2}), testing::ElementsAre(pending, held));
  EXPECT_THAT(states({.skip = 5}), testing::ElementsAre(pending));
  EXPECT_THAT(states({4, 50}), testing::ElementsAre(held, pending));
  EXPECT_THAT(states({6, 50}), IsEmpty());
}

TEST_P(TaskAdminContract, RunningTaskIsAskedToStop) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  EXPECT_EQ(cancel(id), 1);
  EXPECT_EQ(state(id), TaskState::running);
  EXPECT_TRUE(record(id).cancel_requested);
  EXPECT_EQ(tasks().renew(std::span{&claimed.lease, 1}, seconds{90}).at(0), Renewal::cancelled);
  EXPECT_EQ(cancel(id), 0) << "it was asked already";
  auto history = admin().recorded_history(id);
  ASSERT_EQ(history.size(), 1u) << "who asked";
  EXPECT_EQ(history[0].transition.from, TaskState::running);
  EXPECT_EQ(history[0].transition.to, TaskState::running);
  EXPECT_EQ(history[0].transition.reason, reason_to_stop);
  EXPECT_EQ(history[0].transition.token, claimed.lease.token);
  EXPECT_EQ(history[0].transition.attempt, 1);
  EXPECT_TRUE(history[0].claimed_at);
  EXPECT_TRUE(history[0].worker);
}

TEST_P(TaskAdminContract, HeldTaskWhoseTimeHasNotComeStillWaitsForItWhenItIsReleased) {
  auto later = clock().wall() + seconds{3'600};
  auto id = insert("a", {.at = later});
  hold(id, "wait for a word");
  EXPECT_EQ(retry(id), 1);
  EXPECT_EQ(state(id), TaskState::pending);
  EXPECT_EQ(record(id).run_at, later);
  EXPECT_EQ(claim(enlist(), 10).size(), 0u);
}

TEST_P(TaskAdminContract, ForcedCancelTakesTheTaskFromItsWorker) {
  auto id = insert("a");
  auto worker = enlist();
  auto claimed = claim_one(worker);
  EXPECT_EQ(force_cancel(id), 1);
  EXPECT_EQ(state(id), TaskState::cancelled);
  EXPECT_GT(record(id).token, claimed.lease.token);
  EXPECT_EQ(complete(claimed), Settled::refused);
  EXPECT_EQ(state(id), TaskState::cancelled);
  auto history = admin().recorded_history(id);
  ASSERT_EQ(history.size(), 1u);
  EXPECT_EQ(history[0].claimed_at, clock().wall()) << "an attempt ended";
  EXPECT_EQ(history[0].worker, worker);
  EXPECT_EQ(history[0].transition.token, claimed.lease.token) << "which one it was";
}

TEST_P(TaskAdminContract, OnlyStatesThatTheMoveNamesAreMoved) {
  auto id = insert("a");
  EXPECT_EQ(force_cancel(id), 0);
  EXPECT_EQ(retry(id), 0);
  EXPECT_EQ(state(id), TaskState::pending);
}

TEST_P(TaskAdminContract, TransitionsThatAreNotAllowedDoNotHappen) {
  auto id = completed_task();
  EXPECT_EQ(admin().move({.ids = {id}}, {.to = TaskState::pending,
                                         .from = {TaskState::completed},
                                         .actor = "operator",
                                         .reason = "again"}),
            0);
  EXPECT_EQ(state(id), TaskState::completed);
}

TEST_P(TaskAdminContract, WhatWaitedForACancelledTaskIsCancelledToo) {
  auto first = insert("a");
  auto second = insert("a", {.after = {first}});
  auto third = insert("a", {.after = {second}});
  auto unrelated = insert("a");
  EXPECT_GE(cancel(first), 1);
  EXPECT_EQ(state(second), TaskState::cancelled);
  EXPECT_EQ(state(third), TaskState::cancelled);
  EXPECT_EQ(state(unrelated), TaskState::pending);
  auto history = admin().recorded_history(second);
  ASSERT_EQ(history.size(), 1u);
  EXPECT_THAT(history[0].transition.reason, HasSubstr(first.text()));
}

TEST_P(TaskAdminContract, RetriedTaskStartsAfresh) {
  auto id = failed_task();
  ASSERT_EQ(record(id).attempt, 1);
  clock().advance(seconds{60});
  EXPECT_EQ(retry(id), 1);
  auto again = record(id);
  EXPECT_EQ(again.state, TaskState::pending);
  EXPECT_EQ(again.attempt, 0);
  EXPECT_LE(again.run_at, clock().wall());
  EXPECT_EQ(again.error, "");
  EXPECT_FALSE(again.finished_at);
  EXPECT_EQ(claim_one(enlist()).lease.id, id);
}

TEST_P(TaskAdminContract, RetriedTaskKeepsATokenThatGrows) {
  auto id = failed_task();
  auto before = record(id).token;
  retry(id);
  EXPECT_GT(claim_one(enlist()).lease.token, before);
}

TEST_P(TaskAdminContract, RetryIsSkippedWhileAnotherTaskHasTheKey) {
  auto old = failed_task({.unique_key = "only one"});
  auto id = insert("a", {.unique_key = "only one"});
  ASSERT_NE(id, old);
  EXPECT_EQ(retry(old), 0);
  EXPECT_EQ(state(old), TaskState::failed);
  cancel(id);
  EXPECT_EQ(retry(old), 1);
}

TEST_P(TaskAdminContract, HeldTaskWaitsForAnOperatorAndSaysWhy) {
  auto id = insert("a");
  EXPECT_EQ(hold(id, "the customer called"), 1);
  EXPECT_EQ(record(id).cause, "the customer called");
  EXPECT_THAT(claim(enlist()), IsEmpty());
  EXPECT_EQ(retry(id), 1);
  EXPECT_EQ(record(id).cause, "");
  EXPECT_EQ(state(id), TaskState::pending);
}

TEST_P(TaskAdminContract, ReleasedTaskStillWaitsForItsDependencies) {
  auto first = insert("a");
  auto second = insert("a", {.after = {first}});
  EXPECT_EQ(hold(second, "wait"), 1);
  EXPECT_EQ(retry(second), 1);
  EXPECT_EQ(state(second), TaskState::blocked);
  complete(claim_one(enlist()));
  EXPECT_EQ(state(second), TaskState::pending);
}

TEST_P(TaskAdminContract, ManyAreMovedAtOnce) {
  std::vector<NewTask> many(2'500, NewTask{"a", "{}"});
  tasks().insert(many);
  auto other_kind = insert("b");
  auto moved = admin().move({.kind = "a"}, {.to = TaskState::cancelled,
                                            .from = {TaskState::pending},
                                            .actor = "operator",
                                            .reason = "no longer needed"});
  EXPECT_EQ(moved, 2'500);
  EXPECT_EQ(admin().count({.states = {TaskState::cancelled}}), 2'500);
  EXPECT_EQ(state(other_kind), TaskState::pending);
}

TEST_P(TaskAdminContract, WhatWasCalledOffIsNotInTheWayOfWhatComesAfterIt) {
  std::vector<NewTask> many(250, NewTask{"a", "{}"});
  std::vector<TaskId> ids;
  for (const auto& each : tasks().insert(many)) ids.push_back(each.id);
  clock().advance(Millis{5});
  auto last = insert("a");
  Inspector inspector{shared_engine()};
  inspector.cancel({.ids = ids});
  EXPECT_EQ(admin().queues().at(0).oldest_pending, clock().wall());
  auto worker = enlist();
  EXPECT_EQ(claim_one(worker).lease.id, last);

  // Whatever is left of its first place, it is claimed once.
  inspector.retry({.ids = {ids[7], ids[3]}});
  auto claimed = claim(worker, 10);
  ASSERT_EQ(claimed.size(), 2u);
  for (const auto& each : claimed) EXPECT_EQ(complete(each), Settled::accepted);
  EXPECT_THAT(claim(worker, 10), IsEmpty());
  EXPECT_FALSE(tasks().next_due(request(worker)));
}

TEST_P(TaskAdminContract, WhatWasCalledOffAndRetriedIsClaimedOnce) {
  auto first = insert("a"), second = insert("a");
  Inspector inspector{shared_engine()};
  inspector.cancel({.ids = {first}});
  inspector.hold({.ids = {second}}, "wait");
  clock().advance(Millis{5});
  inspector.retry({.ids = {first, second}});
  auto worker = enlist();
  auto claimed = claim(worker, 10);
  ASSERT_EQ(claimed.size(), 2u);
  // Given back for later, it is not found in its first place either.
  for (const auto& each : claimed)
    ASSERT_EQ(
        settle({.lease = each.lease, .to = TaskState::pending, .attempt = 1, .delay = seconds{10}}),
        Settled::accepted);
  EXPECT_THAT(claim(worker, 10), IsEmpty());
  EXPECT_EQ(admin().count({.states = {TaskState::pending}}), 2);
}

TEST_P(TaskAdminContract, WhatComesBackWithAnotherTimeDoesNotRunAtItsFirstOne) {
  auto id = insert("a");
  auto worker = enlist();
  auto claimed = claim_one(worker);
  ASSERT_EQ(
      settle(
          {.lease = claimed.lease, .to = TaskState::pending, .attempt = 1, .delay = seconds{10}}),
      Settled::accepted);
  auto other = insert("a");
  EXPECT_EQ(claim(worker, 10).size(), 1u) << "the other one";
  EXPECT_EQ(state(id), TaskState::pending);
  EXPECT_EQ(state(other), TaskState::running);
}

TEST_P(TaskAdminContract, AnIdThatIsUsedAgainHasItsNewPayload) {
  auto id = insert("a", {}, R"({"n":1})");
  cancel(id);
  clock().advance(std::chrono::hours{2});
  ASSERT_EQ(admin().prune({.completed = std::chrono::hours{1}}), 1);
  insert("a", {.id = id}, R"({"n":2})");
  auto worker = enlist();
  auto claimed = claim(worker, 10);
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].payload, R"({"n":2})");
}

TEST_P(TaskAdminContract, LongAndShortPayloadsAreClaimedAsTheyAre) {
  std::vector<std::string> payloads;
  for (int size : {1, 2'000, 3, 500, 600})
    payloads.push_back('"' + std::string(static_cast<std::size_t>(size), 'x') + '"');
  for (const auto& payload : payloads) insert("a", {}, payload);
  std::vector<std::string> got;
  auto worker = enlist();
  for (const auto& each : claim(worker, 2)) got.push_back(each.payload);
  for (const auto& each : claim(worker, 10)) got.push_back(each.payload);
  EXPECT_EQ(got, payloads);
}

TEST_P(TaskAdminContract, RetryAndPauseWakeThoseWhoWait) {
  auto id = failed_task();
  while (other().tasks().wait_for_work(Millis{0}) != Wake::nothing) continue;
  retry(id);
  EXPECT_EQ(other().tasks().wait_for_work(seconds{30}), Wake::work);
  admin().set_paused("default", true, "operator");
  EXPECT_EQ(other().tasks().wait_for_work(seconds{30}), Wake::control);
}

TEST_P(TaskAdminContract, RetryTakesTheUniqueKeyAgain) {
  auto id = failed_task({.unique_key = "only one"});
  EXPECT_EQ(retry(id), 1);
  EXPECT_EQ(insert("a", {.unique_key = "only one"}), id) << "the key is in use";
}

TEST_P(TaskAdminContract, OfSeveralWithOneKeyOneIsRetried) {
  failed_task({.unique_key = "only one"});
  failed_task({.unique_key = "only one"});
  const TaskAdmin::Move again{.to = TaskState::pending,
                              .from = {TaskState::failed},
                              .fresh_attempts = true,
                              .actor = "operator",
                              .reason = "again"};
  EXPECT_EQ(admin().move({}, again), 1);
  EXPECT_THAT(ids({.states = {TaskState::pending}}), SizeIs(1));
}

TEST_P(TaskAdminContract, RetryForgetsTheProgressOfAnEarlierAttempt) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  const Note half{claimed.lease, ProgressNote{0.5, "half"}};
  ASSERT_TRUE(tasks().record(std::span{&half, 1})[0].accepted);
  settle({.lease = claimed.lease, .to = TaskState::failed, .reason = "broke", .attempt = 1});
  EXPECT_EQ(record(id).progress, 0.5);
  retry(id);
  EXPECT_EQ(record(id).progress, 0);
  EXPECT_EQ(record(id).progress_text, "");
}

}  // namespace holdfast::test
