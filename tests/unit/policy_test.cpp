#include "tasks/policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tasks/transitions.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Claimed claimed(int attempt = 1) {
  Claimed one;
  one.lease = {TaskId::make(), Token{5}};
  one.attempt = attempt;
  one.max_attempts = 3;
  one.timeout = 5s;
  return one;
}

TEST(Policy, DoneCompletesTheTask) {
  auto task = claimed(2);
  auto settlement = settle_for(task, done, {});
  EXPECT_EQ(settlement.lease, task.lease);
  EXPECT_EQ(settlement.to, TaskState::completed);
  EXPECT_EQ(settlement.result, "");
  EXPECT_EQ(settlement.attempt, 2);
  EXPECT_TRUE(settlement.was_attempt);
}

TEST(Policy, DoneWithAResultKeepsItAsJson) {
  EXPECT_EQ(settle_for(claimed(), done_with(std::string{"a \"b\""}), {}).result, R"("a \"b\"")");
  EXPECT_EQ(settle_for(claimed(), done_with(0), {}).result, "0");
}

TEST(Policy, DoneWinsOverACancelAndATimeout) {
  auto settlement = settle_for(claimed(), done, {.cancel_requested = true, .timed_out = true});
  EXPECT_EQ(settlement.to, TaskState::completed);
}

TEST(Policy, AResultOverTheLimitFailsAndSaysSo) {
  AttemptEnd end{.result_bytes = 10};
  EXPECT_EQ(settle_for(claimed(), done_with(std::string(8, 'x')), end).to, TaskState::completed);
  auto settlement = settle_for(claimed(), done_with(std::string(9, 'x')), end);
  EXPECT_EQ(settlement.to, TaskState::failed);
  EXPECT_EQ(settlement.result, "");
  EXPECT_THAT(settlement.reason, HasSubstr("11 bytes"));
  EXPECT_THAT(settlement.reason, HasSubstr("at most 10"));
}

TEST(Policy, ARetryWaitsForTheBackoffOfItsAttemptAndKeepsTheAttempt) {
  auto settlement = settle_for(claimed(2), retry("no route"), {});
  EXPECT_EQ(settlement.to, TaskState::pending);
  EXPECT_EQ(settlement.delay, 2s);
  EXPECT_EQ(settlement.attempt, 2);
  EXPECT_TRUE(settlement.was_attempt);
  EXPECT_EQ(settlement.reason, "Attempt 2 of 3 failed: no route");
}

TEST(Policy, ARetryMayNameItsOwnDelay) {
  EXPECT_EQ(settle_for(claimed(), retry_in(90s, "later"), {}).delay, 90s);
  EXPECT_EQ(settle_for(claimed(), retry_in(-90s, "earlier"), {}).delay, 0s);
  EXPECT_LT(settle_for(claimed(), retry_in(Millis::max(), "never"), {}).delay, 24h * 366 * 10);
}

TEST(Policy, ARetryOnTheLastAttemptIsADeadLetter) {
  auto settlement = settle_for(claimed(3), retry_in(1s, "no route"), {});
  EXPECT_EQ(settlement.to, TaskState::failed);
  EXPECT_THAT(settlement.reason, HasSubstr("Attempt 3 of 3"));
  EXPECT_THAT(settlement.reason, HasSubstr("no route"));
}

TEST(Policy, AFailureForGoodIsADeadLetterAtOnce) {
  auto settlement = settle_for(claimed(1), fail("no such address"), {});
  EXPECT_EQ(settlement.to, TaskState::failed);
  EXPECT_THAT(settlement.reason, HasSubstr("no such address"));
}

TEST(Policy, WhatAPersonMustDecideIsHeldEvenOnTheLastAttempt) {
  auto settlement = settle_for(claimed(3), hold("it may have been sent"), {});
  EXPECT_EQ(settlement.to, TaskState::held);
  EXPECT_EQ(settlement.reason, "it may have been sent");
  EXPECT_EQ(settlement.attempt, 3);
  auto late = settle_for(claimed(1), hold("it may have been sent"), {.timed_out = true});
  EXPECT_EQ(late.to, TaskState::held);
  EXPECT_THAT(late.reason, HasSubstr("timeout of 5 s; it may have been sent"));
}

TEST(Policy, ASnoozeComesBackLaterAndChargesNothing) {
  auto settlement = settle_for(claimed(3), snooze(30s), {});
  EXPECT_EQ(settlement.to, TaskState::pending);
  EXPECT_EQ(settlement.delay, 30s);
  EXPECT_EQ(settlement.attempt, 2);
  EXPECT_FALSE(settlement.was_attempt);
}

TEST(Policy, GivingBackChargesNothingAndWaitsForNothing) {
  auto task = claimed(1);
  auto settlement = give_back(task);
  EXPECT_EQ(settlement.lease, task.lease);
  EXPECT_EQ(settlement.to, TaskState::pending);
  EXPECT_EQ(settlement.delay, 0s);
  EXPECT_EQ(settlement.attempt, 0);
  EXPECT_FALSE(settlement.was_attempt);
}

TEST(Policy, WhatWasAskedToStopAndIsNotDoneIsCancelled) {
  for (const Outcome& outcome :
       {Outcome{retry("a")}, Outcome{fail("b")}, Outcome{snooze(1s)}, Outcome{hold("c")}}) {
    auto settlement = settle_for(claimed(), outcome, {.cancel_requested = true});
    EXPECT_EQ(settlement.to, TaskState::cancelled);
    EXPECT_EQ(settlement.delay, 0s);
    EXPECT_TRUE(settlement.was_attempt);
    EXPECT_THAT(settlement.reason, HasSubstr("asked to stop"));
  }
}

TEST(Policy, ATimeoutIsAFailedAttemptThatNamesTheTimeout) {
  for (const Outcome& outcome : {Outcome{retry("stopped")}, Outcome{snooze(1s)}}) {
    auto settlement = settle_for(claimed(1), outcome, {.timed_out = true});
    EXPECT_EQ(settlement.to, TaskState::pending);
    EXPECT_EQ(settlement.attempt, 1);
    EXPECT_EQ(settlement.delay, 1s);
    EXPECT_THAT(settlement.reason, HasSubstr("timeout of 5 s"));
    EXPECT_EQ(settle_for(claimed(3), outcome, {.timed_out = true}).to, TaskState::failed);
  }
}

TEST(Policy, AHandlerThatSaysNothingIsQuotedAsSuch) {
  EXPECT_THAT(settle_for(claimed(), retry(""), {}).reason, HasSubstr("did not say why"));
}

TEST(Policy, AnEndlessReasonIsCutBetweenCharacters) {
  std::string endless;
  while (endless.size() < 100'000) endless += "é";
  auto reason = settle_for(claimed(), retry("x" + endless), {}).reason;
  EXPECT_LT(reason.size(), 5'000u);
  EXPECT_THAT(reason, HasSubstr("é [9600"));
}

TEST(Policy, EverySettlementIsATransitionThatAWorkerMayMake) {
  for (int attempt = 1; attempt <= 3; ++attempt)
    for (bool cancel : {false, true})
      for (bool late : {false, true})
        for (const Outcome& outcome : {Outcome{done}, Outcome{retry("a")}, Outcome{fail("b")},
                                       Outcome{snooze(1s)}, Outcome{hold("c")}}) {
          auto settlement = settle_for(claimed(attempt), outcome, {cancel, late});
          EXPECT_TRUE(allowed(TaskState::running, settlement.to, Mover::worker));
          EXPECT_TRUE(settlement.to != TaskState::pending || settlement.attempt < 3);
        }
}

}  // namespace
}  // namespace holdfast
