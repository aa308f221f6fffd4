#include <gmock/gmock.h>
#include <holdfast/inspector.hpp>

#include "contract/task_store_contract.hpp"

namespace holdfast::test {

using std::chrono::seconds;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_P(TaskStoreContract, CompletedTaskKeepsItsResultAndIsFinal) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  clock().advance(seconds{3});
  EXPECT_EQ(settle({.lease = claimed.lease, .result = R"({"sum":3})", .attempt = 1}),
            Settled::accepted);
  auto task = record(id);
  EXPECT_EQ(task.state, TaskState::completed);
  EXPECT_EQ(task.result, R"({"sum":3})");
  EXPECT_EQ(task.finished_at, clock().wall());
  EXPECT_EQ(task.attempt, 1);
  EXPECT_THAT(engine().admin().recorded_history(id), IsEmpty()) << "the plain life costs no rows";
}

TEST_P(TaskStoreContract, FailedTaskKeepsTheReasonAndItsHistory) {
  auto id = insert("a");
  auto worker = enlist();
  auto claimed = claim_one(worker);
  EXPECT_EQ(fail(claimed, "no such address"), Settled::accepted);
  auto task = record(id);
  EXPECT_EQ(task.state, TaskState::failed);
  EXPECT_EQ(task.error, "no such address");
  EXPECT_EQ(task.finished_at, clock().wall());
  auto history = engine().admin().recorded_history(id);
  ASSERT_EQ(history.size(), 1u);
  EXPECT_EQ(history[0].transition.to, TaskState::failed);
  EXPECT_EQ(history[0].transition.reason, "no such address");
  EXPECT_EQ(history[0].transition.actor, "worker/" + worker.text());
  EXPECT_EQ(history[0].transition.token, claimed.lease.token);
}

TEST_P(TaskStoreContract, WhatItsWorkerHoldsWaitsForAnOperatorWithItsCause) {
  auto id = insert("a", {.unique_key = "only one"});
  auto dependent = insert("b", {.after = {id}});
  auto worker = enlist();
  auto claimed = claim_one(worker);
  Settlement held{
      .lease = claimed.lease, .to = TaskState::held, .reason = "maybe sent", .attempt = 1};
  EXPECT_EQ(settle(held), Settled::accepted);
  EXPECT_EQ(settle(held), Settled::repeated);
  auto task = record(id);
  EXPECT_EQ(task.state, TaskState::held);
  EXPECT_EQ(task.cause, "maybe sent");
  EXPECT_EQ(task.error, "");
  EXPECT_FALSE(task.finished_at);
  EXPECT_EQ(state(dependent), TaskState::blocked);
  EXPECT_EQ(insert("a", {.unique_key = "only one"}), id) << "it is not finished";
  EXPECT_THAT(claim(worker), IsEmpty());
  auto history = engine().admin().recorded_history(id);
  ASSERT_EQ(history.size(), 1u);
  EXPECT_EQ(history[0].transition.to, TaskState::held);
  EXPECT_EQ(history[0].transition.reason, "maybe sent");
  EXPECT_TRUE(engine().check_integrity(true, {}).passed);

  Inspector{shared_engine()}.retry({.ids = {id}});
  EXPECT_EQ(record(id).cause, "");
  auto again = claim_one(worker);
  EXPECT_GT(again.lease.token, claimed.lease.token);
  EXPECT_EQ(complete(again), Settled::accepted);
  EXPECT_EQ(state(dependent), TaskState::pending);
}

TEST_P(TaskStoreContract, WhatIsHeldAfterItWasAskedToStopIsCancelled) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  ask_to_stop(id);
  EXPECT_EQ(settle({.lease = claimed.lease, .to = TaskState::held, .reason = "why", .attempt = 1}),
            Settled::accepted);
  EXPECT_EQ(state(id), TaskState::cancelled);
  EXPECT_EQ(record(id).finished_at, clock().wall());
}

TEST_P(TaskStoreContract, RetriedTaskComesBackAfterItsDelayWithAHigherToken) {
  auto id = insert("a");
  auto worker = enlist();
  auto claimed = claim_one(worker);
  EXPECT_EQ(settle({.lease = claimed.lease,
                    .to = TaskState::pending,
                    .reason = "busy",
                    .attempt = 1,
                    .delay = seconds{4}}),
            Settled::accepted);
  EXPECT_EQ(record(id).error, "busy");
  EXPECT_THAT(claim(worker), IsEmpty());
  clock().advance(seconds{4});
  auto again = claim_one(worker);
  EXPECT_EQ(again.attempt, 2);
  EXPECT_GT(again.lease.token, claimed.lease.token);
  EXPECT_EQ(engine().admin().recorded_history(id).size(), 1u);
}

TEST_P(TaskStoreContract, GivenBackTaskIsNotChargedAndLeavesNoTrace) {
  auto id = insert("a");
  auto worker = enlist();
  auto claimed = claim_one(worker);
  EXPECT_EQ(
      settle(
          {.lease = claimed.lease, .to = TaskState::pending, .attempt = 0, .was_attempt = false}),
      Settled::accepted);
  EXPECT_EQ(record(id).attempt, 0);
  EXPECT_THAT(engine().admin().recorded_history(id), IsEmpty());
  auto again = claim_one(worker);
  EXPECT_EQ(again.attempt, 1);
  EXPECT_GT(again.lease.token, claimed.lease.token);
}

TEST_P(TaskStoreContract, GivenBackForAReasonIsInTheHistoryAndNoError) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  EXPECT_EQ(settle({.lease = claimed.lease,
                    .to = TaskState::pending,
                    .reason = "its worker ended",
                    .attempt = 0,
                    .was_attempt = false}),
            Settled::accepted);
  EXPECT_THAT(record(id).error, IsEmpty());
  auto history = engine().admin().recorded_history(id);
  ASSERT_EQ(history.size(), 1u);
  EXPECT_EQ(history[0].transition.to, TaskState::pending);
  EXPECT_EQ(history[0].transition.reason, "its worker ended");
  EXPECT_TRUE(history[0].claimed_at);
}

TEST_P(TaskStoreContract, CancelledWhileRunningSettlesAsCancelled) {
  auto id = insert("a");
  auto dependent = insert("b", {.after = {id}});
  auto claimed = claim_one(enlist());
  ask_to_stop(id);
  EXPECT_TRUE(record(id).cancel_requested);
  EXPECT_EQ(
      settle(
          {.lease = claimed.lease, .to = TaskState::cancelled, .reason = "asked to", .attempt = 1}),
      Settled::accepted);
  EXPECT_EQ(state(id), TaskState::cancelled);
  EXPECT_EQ(state(dependent), TaskState::cancelled);
}

TEST_P(TaskStoreContract, RepeatedSettlementIsRecognisedAndChangesNothing) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  Settlement settlement{.lease = claimed.lease, .result = "1", .attempt = 1};
  settlement.follow_ups = {{"b", "{}", {.id = TaskId::make()}}};
  ASSERT_EQ(settle(settlement), Settled::accepted);
  clock().advance(seconds{1});
  EXPECT_EQ(other().tasks().exchange(Exchange{.settle = {settlement}}).settled.at(0),
            Settled::repeated);
  EXPECT_EQ(record(id).finished_at, clock().wall() - seconds{1});
  EXPECT_EQ(engine().admin().count({.kind = "b"}), 1);
  EXPECT_EQ(engine().reports().totals().stale_writes_refused, 0);
}

TEST_P(TaskStoreContract, RepeatedRetryIsRecognisedUntilSomebodyClaims) {
  insert("a");
  auto worker = enlist();
  auto claimed = claim_one(worker);
  Settlement retry{
      .lease = claimed.lease, .to = TaskState::pending, .reason = "busy", .attempt = 1};
  ASSERT_EQ(settle(retry), Settled::accepted);
  EXPECT_EQ(settle(retry), Settled::repeated);
  claim_one(worker);
  EXPECT_EQ(settle(retry), Settled::refused);
}

TEST_P(TaskStoreContract, AnotherEndOfTheSameAttemptIsNotAccepted) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  ASSERT_EQ(complete(claimed), Settled::accepted);
  EXPECT_NE(fail(claimed), Settled::accepted);
  EXPECT_EQ(state(id), TaskState::completed);
}

TEST_P(TaskStoreContract, StaleSettlementIsRefusedAndCounted) {
  auto id = insert("a");
  auto first = enlist();
  auto stale = claim_one(first);
  die_and_be_buried(first);
  Verdict verdict{.lease = stale.lease, .reason = "its worker died", .cause = {}};
  ASSERT_TRUE(tasks().reclaim(std::span{&verdict, 1}, report())[0]);
  auto current = claim_one(enlist());

  Settlement late{.lease = stale.lease, .result = "\"late\"", .attempt = 1};
  late.follow_ups = {{"b", "{}", {.id = TaskId::make()}}};
  EXPECT_EQ(settle(late), Settled::refused);
  EXPECT_EQ(fail(stale), Settled::refused);
  EXPECT_EQ(engine().reports().totals().stale_writes_refused, 2);
  EXPECT_EQ(other().reports().totals().stale_writes_refused, 2);
  EXPECT_EQ(engine().admin().count({.kind = "b"}), 0) << "follow-ups come with acceptance only";
  EXPECT_EQ(state(id), TaskState::running);
  EXPECT_EQ(complete(current), Settled::accepted);
  EXPECT_EQ(record(id).result, "");
}

TEST_P(TaskStoreContract, SettlementOfATaskThatIsGoneIsRefused) {
  EXPECT_EQ(settle({.lease = {TaskId::make(), Token{7}}, .attempt = 1}), Settled::refused);
}

TEST_P(TaskStoreContract, OneStaleSettlementDoesNotSpoilTheOthers) {
  for (int i = 0; i < 3; ++i) insert("a");
  auto claimed = claim(enlist(), 3);
  ASSERT_EQ(claimed.size(), 3u);
  Exchange exchange;
  for (const auto& each : claimed) exchange.settle.push_back({.lease = each.lease, .attempt = 1});
  exchange.settle[1].lease.token.value -= 1;
  EXPECT_THAT(tasks().exchange(exchange).settled,
              ElementsAre(Settled::accepted, Settled::refused, Settled::accepted));
  EXPECT_EQ(state(claimed[0].lease.id), TaskState::completed);
  EXPECT_EQ(state(claimed[1].lease.id), TaskState::running);
  EXPECT_EQ(state(claimed[2].lease.id), TaskState::completed);
}

TEST_P(TaskStoreContract, WhatBecameOfATaskWhileItRanCountsWhenItCompletes) {
  for (int i = 0; i < 4; ++i) insert("a");
  auto claimed = claim(enlist(), 4);
  ASSERT_EQ(claimed.size(), 4u);
  auto later = insert("b", {.after = {claimed[0].lease.id}});
  EXPECT_TRUE(note(claimed[1], ProgressNote{0.5, "half"}).accepted);
  Inspector{shared_engine()}.cancel({.ids = {claimed[2].lease.id}});
  Exchange exchange;
  for (const auto& each : claimed) exchange.settle.push_back({.lease = each.lease, .attempt = 1});
  EXPECT_THAT(tasks().exchange(exchange).settled, Each(Settled::accepted));
  EXPECT_EQ(state(later), TaskState::pending);
  EXPECT_EQ(record(claimed[1].lease.id).progress_text, "half");
  for (const auto& each : claimed) EXPECT_EQ(state(each.lease.id), TaskState::completed);
  EXPECT_TRUE(engine().check_integrity(true, {}).passed);
}

TEST_P(TaskStoreContract, FollowUpsComeIntoBeingWithTheCompletionAndCanBeClaimedInTheSameStep) {
  insert("a");
  auto worker = enlist();
  auto claimed = claim_one(worker);
  auto next = TaskId::make();
  Exchange exchange{.settle = {{.lease = claimed.lease, .attempt = 1}},
                    .claim = request(worker, 10)};
  exchange.settle[0].follow_ups = {{"b", R"({"n":1})", {.id = next}}};
  auto answer = tasks().exchange(exchange);
  EXPECT_THAT(answer.settled, ElementsAre(Settled::accepted));
  ASSERT_EQ(answer.claimed.size(), 1u);
  EXPECT_EQ(answer.claimed[0].lease.id, next);
  EXPECT_EQ(answer.claimed[0].payload, R"({"n":1})");
}

TEST_P(TaskStoreContract, FollowUpsWithNewIdsAreAsGoodAsOthersAndMayWaitForEachOther) {
  insert("a");
  insert("a");
  auto worker = enlist();
  auto claimed = claim(worker, 2);
  ASSERT_EQ(claimed.size(), 2u);
  auto alone = TaskId::make(), first = TaskId::make(), second = TaskId::make();
  Settlement plain{.lease = claimed[0].lease, .attempt = 1};
  plain.follow_ups = {{"b", R"({"n":1})", {.id = alone}}};
  plain.have_new_ids = true;
  ASSERT_EQ(settle(plain), Settled::accepted);
  EXPECT_EQ(settle(plain), Settled::repeated);
  EXPECT_EQ(state(alone), TaskState::pending);
  Settlement chain{.lease = claimed[1].lease, .attempt = 1};
  chain.follow_ups = {{"b", "{}", {.id = first}}, {"b", "{}", {.after = {first}, .id = second}}};
  chain.have_new_ids = true;
  ASSERT_EQ(settle(chain), Settled::accepted);
  EXPECT_EQ(state(first), TaskState::pending);
  EXPECT_EQ(state(second), TaskState::blocked);
  EXPECT_EQ(engine().admin().count({.kind = "b"}), 3);
}

TEST_P(TaskStoreContract, SettledTaskThatIsDueCanBeClaimedInTheSameStep) {
  auto id = insert("a");
  auto worker = enlist();
  auto claimed = claim_one(worker);
  Exchange exchange{.claim = request(worker, 10)};
  exchange.settle = {{.lease = claimed.lease, .to = TaskState::pending, .attempt = 1}};
  auto answer = tasks().exchange(exchange);
  ASSERT_EQ(answer.claimed.size(), 1u);
  EXPECT_EQ(answer.claimed[0].lease.id, id);
  EXPECT_GT(answer.claimed[0].lease.token, claimed.lease.token);
  EXPECT_EQ(answer.claimed[0].attempt, 2);
}

TEST_P(TaskStoreContract, AnEndThatComesTwiceInOneExchangeIsWrittenOnce) {
  const auto worker = enlist();
  for (auto to : {TaskState::completed, TaskState::failed, TaskState::pending}) {
    const auto id = insert("a");
    const auto lease = claim_one(worker).lease;
    const Settlement end{.lease = lease,
                         .to = to,
                         .reason = to == TaskState::completed ? "" : "so",
                         .attempt = 1,
                         .delay = Millis{60'000}};
    const auto exchanged = tasks().exchange({.settle = {end, end}});
    EXPECT_THAT(exchanged.settled, testing::ElementsAre(Settled::accepted, Settled::repeated));
    EXPECT_EQ(state(id), to);
    EXPECT_EQ(engine().admin().recorded_history(id, {}).size(), to == TaskState::completed ? 0 : 1);
    expect_true_counts();
  }
}

}  // namespace holdfast::test
