#include "recovery/decide.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tasks/transitions.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;

const Lease mine{TaskId::make(), Token{7}};
const Lease beside{TaskId::make(), Token{8}};
constexpr int max_crashes = 3;
constexpr double middle = 0.5;  // of the jitter: none

Orphan orphan() {
  Orphan one;
  one.lease = mine;
  one.worker = WorkerId::make();
  one.attempt = 2;
  one.max_attempts = 3;
  return one;
}

Remains board(std::vector<Lease> running, std::string evidence = {}) {
  return {.readable = true, .running = std::move(running), .evidence = std::move(evidence)};
}

const Remains alone = board({mine});
const Remains in_company = board({beside, mine});
const Remains elsewhere = board({beside});
const Remains unreadable{};

Verdict decide(const Orphan& orphan, const Remains* remains, RecoveryAction action, int crashes,
               double random01) {
  Settings::Recovery settings{.action = action, .max_recovery_attempts = crashes};
  return holdfast::decide(orphan, remains, settings, random01);
}

TEST(Decide, WorkThatHadNotStartedRunsAgainWhateverTheActionAndCostsNothing) {
  for (auto action : {RecoveryAction::retry, RecoveryAction::fail, RecoveryAction::pending}) {
    auto verdict = decide(orphan(), &elsewhere, action, max_crashes, middle);
    EXPECT_EQ(verdict.to, TaskState::pending);
    EXPECT_EQ(verdict.attempt, 1);
    EXPECT_EQ(verdict.crashes, 0);
    EXPECT_FALSE(verdict.suspect);
    EXPECT_EQ(verdict.delay, Millis{0});
  }
}

TEST(Decide, ARestartOfTheMachineIsNoTasksFault) {
  Remains restarted;
  restarted.machine_restarted = true;
  auto verdict = decide(orphan(), &restarted, RecoveryAction::retry, max_crashes, middle);
  EXPECT_EQ(verdict.to, TaskState::pending);
  EXPECT_EQ(verdict.attempt, 1);
  EXPECT_FALSE(verdict.suspect);
  EXPECT_THAT(verdict.reason, HasSubstr("machine was restarted"));
}

TEST(Decide, WhatEveryRestartSweepsAwayRunsAloneInTheEndAndIsCharged) {
  Remains restarted;
  restarted.machine_restarted = true;
  auto task = orphan();
  task.max_attempts = 100;
  int restarts = 0;
  for (auto to = TaskState::pending; to == TaskState::pending && restarts < 100; ++restarts) {
    task.attempt += 1;
    auto verdict = decide(task, &restarted, RecoveryAction::retry, max_crashes, middle);
    bool early = restarts < 3;
    EXPECT_EQ(verdict.attempt, early ? task.attempt - 1 : task.attempt) << restarts;
    EXPECT_EQ(verdict.suspect, restarts == 2 || (!early && verdict.to == TaskState::pending));
    to = verdict.to;
    task.attempt = verdict.attempt;
    task.crashes = verdict.crashes;
    task.suspect = verdict.suspect;
    ++task.recoveries;
    if (to != TaskState::held) continue;
    EXPECT_THAT(verdict.cause, HasSubstr("machine was restarted"));
    EXPECT_THAT(verdict.cause, HasSubstr("3 workers"));
  }
  EXPECT_EQ(restarts, 6);
  EXPECT_EQ(task.crashes, max_crashes);
}

TEST(Decide, ASuspectThatTheFirstRestartSweepsAwayIsNotCharged) {
  Remains restarted;
  restarted.machine_restarted = true;
  auto task = orphan();
  task.suspect = true;
  auto verdict = decide(task, &restarted, RecoveryAction::retry, max_crashes, middle);
  EXPECT_EQ(verdict.crashes, 0);
  EXPECT_TRUE(verdict.suspect);
}

TEST(Decide, TheEndOfAServerIsNoFaultOfWhatRemoteWorkersRun) {
  const auto out = board({mine, runs_elsewhere});
  auto verdict = decide(orphan(), &out, RecoveryAction::retry, max_crashes, middle);
  EXPECT_EQ(verdict.to, TaskState::pending);
  EXPECT_EQ(verdict.attempt, 1);
  EXPECT_EQ(verdict.crashes, 0);
  EXPECT_FALSE(verdict.suspect);
  EXPECT_THAT(verdict.reason, HasSubstr("ended while that was running this task"));
  // It may run still, so where running twice is worse than not at all, it does not run again.
  EXPECT_EQ(decide(orphan(), &out, RecoveryAction::fail, max_crashes, middle).to,
            TaskState::failed);
}

TEST(Decide, WhatNeverReachedARemoteWorkerRunsAgainWhateverTheAction) {
  const auto out = board({beside, runs_elsewhere});
  auto verdict = decide(orphan(), &out, RecoveryAction::fail, max_crashes, middle);
  EXPECT_EQ(verdict.to, TaskState::pending);
  EXPECT_THAT(verdict.reason, HasSubstr("was not being run"));
}

TEST(Decide, WhatEndsServersOfRemoteWorkersIsChargedInTheEnd) {
  const auto out = board({mine, runs_elsewhere});
  auto task = orphan();
  task.recoveries = 2;
  EXPECT_TRUE(decide(task, &out, RecoveryAction::retry, max_crashes, middle).suspect);
  task.recoveries = 3;
  task.suspect = true;
  auto verdict = decide(task, &out, RecoveryAction::retry, max_crashes, middle);
  EXPECT_EQ(verdict.crashes, 1);
  EXPECT_THAT(verdict.reason, HasSubstr("A server of remote workers ended"));
}

TEST(Decide, DeathsWithoutARecordAreChargedWhenTheyDoNotEnd) {
  auto task = orphan();
  task.suspect = true;
  task.recoveries = 2;
  EXPECT_EQ(decide(task, &unreadable, RecoveryAction::retry, max_crashes, middle).crashes, 0);
  task.recoveries = 3;
  EXPECT_EQ(decide(task, &unreadable, RecoveryAction::retry, max_crashes, middle).crashes, 1);
  EXPECT_EQ(decide(task, nullptr, RecoveryAction::retry, max_crashes, middle).crashes, 1);
}

TEST(Decide, WhatMayHaveRunWhenTheMachineRestartedIsNotRunTwiceWhereThatIsNotWanted) {
  Remains restarted;
  restarted.machine_restarted = true;
  auto verdict = decide(orphan(), &restarted, RecoveryAction::fail, max_crashes, middle);
  EXPECT_EQ(verdict.to, TaskState::failed);
  EXPECT_THAT(verdict.reason, HasSubstr("machine was restarted"));
}

TEST(Decide, AClaimOfTheSameTaskWithAnotherTokenOnTheBoardIsNotThisOne) {
  Remains older = board({{mine.id, Token{6}}});
  auto verdict = decide(orphan(), &older, RecoveryAction::retry, max_crashes, middle);
  EXPECT_EQ(verdict.crashes, 0);
  EXPECT_FALSE(verdict.suspect);
}

TEST(Decide, ASuspectThatHadNotStartedStaysASuspect) {
  auto suspect = orphan();
  suspect.suspect = true;
  EXPECT_TRUE(decide(suspect, &elsewhere, RecoveryAction::retry, max_crashes, middle).suspect);
}

TEST(Decide, WorkThatRanBesideOtherWorkIsASuspectAndIsNotCharged) {
  for (const Remains* remains : {&in_company, &unreadable, static_cast<const Remains*>(nullptr)}) {
    for (auto action : {RecoveryAction::retry, RecoveryAction::pending}) {
      auto verdict = decide(orphan(), remains, action, max_crashes, middle);
      EXPECT_EQ(verdict.to, TaskState::pending);
      EXPECT_EQ(verdict.attempt, 1);
      EXPECT_EQ(verdict.crashes, 0);
      EXPECT_TRUE(verdict.suspect);
      EXPECT_EQ(verdict.delay, Millis{0});
    }
    auto verdict = decide(orphan(), remains, RecoveryAction::fail, max_crashes, middle);
    EXPECT_EQ(verdict.to, TaskState::failed);
    EXPECT_EQ(verdict.attempt, 2);
    EXPECT_FALSE(verdict.suspect);
  }
}

TEST(Decide, ARequestIsSentAgainBesideOthersUntilItHasBeenThereTooOften) {
  auto request = orphan();
  request.kind = "holdfast.http";
  for (const auto* remains : {&alone, &in_company, &unreadable}) {
    auto verdict = decide(request, remains, RecoveryAction::retry, max_crashes, middle);
    EXPECT_EQ(verdict.to, TaskState::pending);
    EXPECT_EQ(verdict.attempt, 1);
    EXPECT_EQ(verdict.crashes, 0);
    EXPECT_FALSE(verdict.suspect);
    EXPECT_THAT(verdict.reason, HasSubstr("others at once"));
  }
  EXPECT_EQ(decide(request, &in_company, RecoveryAction::fail, max_crashes, middle).to,
            TaskState::failed);
  request.recoveries = 10;
  EXPECT_TRUE(decide(request, &in_company, RecoveryAction::retry, max_crashes, middle).suspect);
}

TEST(Decide, ATransactionIsNeverChargedForDeathsFromOutside) {
  auto transaction = orphan();
  transaction.kind = "holdfast.tx";
  Remains restarted;
  restarted.machine_restarted = true;
  const Remains* ways[] = {&alone, &in_company, &elsewhere, &unreadable, &restarted, nullptr};
  for (bool expired : {false, true})
    for (const auto* remains : ways)
      for (int recoveries : {0, 9, 10, 13, 1'000}) {
        transaction.expired = expired;
        transaction.recoveries = recoveries;
        auto verdict = decide(transaction, remains, RecoveryAction::retry, max_crashes, middle);
        EXPECT_EQ(verdict.to, TaskState::pending);
        EXPECT_EQ(verdict.attempt, transaction.attempt - 1) << "not charged";
        EXPECT_EQ(verdict.crashes, 0);
        EXPECT_FALSE(verdict.suspect) << recoveries;
      }
}

TEST(Decide, ATransactionThatEndsItsWorkersRestsAndIsTriedAgain) {
  auto transaction = orphan();
  transaction.kind = "holdfast.tx";
  transaction.recoveries = 12;
  transaction.crashes = max_crashes - 1;
  const auto crashed = board({mine}, "ended by signal 11 (Segmentation fault)");
  auto verdict = decide(transaction, &crashed, RecoveryAction::retry, max_crashes, middle);
  EXPECT_EQ(verdict.to, TaskState::pending);
  EXPECT_EQ(verdict.delay, std::chrono::minutes{15});
  EXPECT_TRUE(verdict.suspect);
  EXPECT_EQ(verdict.crashes, 0) << "it is released by itself";
  EXPECT_THAT(verdict.reason, HasSubstr("ended 3 workers while running alone, so it rests for 15"));
  transaction.kind = "report";
  EXPECT_EQ(decide(transaction, &crashed, RecoveryAction::retry, max_crashes, middle).to,
            TaskState::held);
}

TEST(Decide, ASuspectOnItsLastAttemptStillRunsAgain) {
  auto last = orphan();
  last.attempt = last.max_attempts = 1;
  auto verdict = decide(last, &in_company, RecoveryAction::retry, max_crashes, middle);
  EXPECT_EQ(verdict.to, TaskState::pending);
  EXPECT_EQ(verdict.attempt, 0);
}

TEST(Decide, TheFirstCrashAloneIsChargedAndRunsAgainAtOnce) {
  auto verdict = decide(orphan(), &alone, RecoveryAction::retry, max_crashes, middle);
  EXPECT_EQ(verdict.to, TaskState::pending);
  EXPECT_EQ(verdict.attempt, 2);
  EXPECT_EQ(verdict.crashes, 1);
  EXPECT_TRUE(verdict.suspect);
  EXPECT_EQ(verdict.delay, Millis{0});
}

TEST(Decide, LaterCrashesAloneWaitForTheBackoffOfTheCrashesBefore) {
  auto crasher = orphan();
  crasher.attempt = 1;
  crasher.crashes = 1;
  EXPECT_EQ(decide(crasher, &alone, RecoveryAction::retry, 10, middle).delay, Millis{1'000});
  crasher.crashes = 2;
  EXPECT_EQ(decide(crasher, &alone, RecoveryAction::retry, 10, middle).delay, Millis{2'000});
}

TEST(Decide, ACrashAloneOnTheLastAttemptIsADeadLetter) {
  auto last = orphan();
  last.attempt = last.max_attempts;
  auto verdict = decide(last, &alone, RecoveryAction::retry, max_crashes, middle);
  EXPECT_EQ(verdict.to, TaskState::failed);
  EXPECT_EQ(verdict.crashes, 1);
  EXPECT_FALSE(verdict.suspect);
  EXPECT_THAT(verdict.reason, HasSubstr("attempt 3 of 3"));
}

TEST(Decide, WithActionPendingACrashAloneIsCountedButNoAttemptIsCharged) {
  auto crasher = orphan();
  crasher.crashes = 1;
  auto verdict = decide(crasher, &alone, RecoveryAction::pending, max_crashes, middle);
  EXPECT_EQ(verdict.to, TaskState::pending);
  EXPECT_EQ(verdict.attempt, 1);
  EXPECT_EQ(verdict.crashes, 2);
  EXPECT_TRUE(verdict.suspect);
  EXPECT_EQ(verdict.delay, Millis{0});
}

TEST(Decide, TheCrashLimitHoldsTheTaskWithTheEvidenceWhateverTheAction) {
  auto crasher = orphan();
  crasher.crashes = max_crashes - 1;
  crasher.attempt = crasher.max_attempts;
  auto remains = board({mine}, "ended by signal 11");
  for (auto action : {RecoveryAction::retry, RecoveryAction::fail, RecoveryAction::pending}) {
    auto verdict = decide(crasher, &remains, action, max_crashes, middle);
    EXPECT_EQ(verdict.to, TaskState::held);
    EXPECT_EQ(verdict.crashes, max_crashes);
    EXPECT_FALSE(verdict.suspect);
    EXPECT_THAT(verdict.cause, HasSubstr("signal 11"));
    EXPECT_THAT(verdict.cause, HasSubstr(crasher.worker.text()));
    EXPECT_THAT(verdict.cause, HasSubstr("3 workers"));
  }
}

TEST(Decide, WithActionFailACrashAloneBelowTheLimitIsADeadLetter) {
  auto verdict = decide(orphan(), &alone, RecoveryAction::fail, max_crashes, middle);
  EXPECT_EQ(verdict.to, TaskState::failed);
  EXPECT_EQ(verdict.crashes, 1);
}

TEST(Decide, AnExpiredLeaseIsNoTasksFault) {
  auto silent = orphan();
  silent.expired = true;
  silent.attempt = silent.max_attempts;
  auto verdict = decide(silent, &alone, RecoveryAction::retry, max_crashes, middle);
  EXPECT_EQ(verdict.to, TaskState::pending) << "no attempt of it has failed";
  EXPECT_TRUE(verdict.expired);
  EXPECT_EQ(verdict.attempt, silent.max_attempts - 1);
  EXPECT_EQ(verdict.crashes, 0);
  EXPECT_FALSE(verdict.suspect);
  EXPECT_EQ(verdict.delay, Millis{0});
}

TEST(Decide, LeasesThatExpireAgainAndAgainAreChargedInTheEnd) {
  const int often = Settings::Recovery{}.max_uncharged_recoveries;
  auto silent = orphan();
  silent.expired = true;
  silent.recoveries = often - 1;
  auto warned = decide(silent, nullptr, RecoveryAction::retry, max_crashes, middle);
  EXPECT_TRUE(warned.suspect) << "the next time nothing else is there that could be to blame";
  EXPECT_EQ(warned.crashes, 0);
  silent.recoveries = often;
  silent.suspect = true;
  EXPECT_EQ(decide(silent, nullptr, RecoveryAction::retry, max_crashes, middle).crashes, 1);
  silent.crashes = max_crashes - 1;
  EXPECT_EQ(decide(silent, nullptr, RecoveryAction::retry, max_crashes, middle).to,
            TaskState::held);
}

TEST(Decide, AnExpiredLeaseThatWasRecoveredBeforeWaits) {
  auto silent = orphan();
  silent.expired = true;
  silent.recoveries = 2;
  EXPECT_EQ(decide(silent, nullptr, RecoveryAction::retry, max_crashes, middle).delay,
            Millis{2'000});
  EXPECT_EQ(decide(silent, nullptr, RecoveryAction::pending, max_crashes, middle).delay, Millis{0});
}

TEST(Decide, AnExpiredLeaseIsADeadLetterWithActionFail) {
  auto silent = orphan();
  silent.expired = true;
  EXPECT_EQ(decide(silent, nullptr, RecoveryAction::fail, max_crashes, middle).to,
            TaskState::failed);
}

TEST(Decide, WorkThatWasAskedToStopIsCancelledHoweverItsWorkerEnded) {
  auto asked = orphan();
  asked.cancel_requested = true;
  asked.crashes = max_crashes - 1;
  for (const Remains* remains : {&alone, &in_company, &elsewhere, &unreadable})
    EXPECT_EQ(decide(asked, remains, RecoveryAction::retry, max_crashes, middle).to,
              TaskState::cancelled);
  asked.expired = true;
  EXPECT_EQ(decide(asked, nullptr, RecoveryAction::retry, max_crashes, middle).to,
            TaskState::cancelled);
}

/// Every combination of what decide() is told, and what must be true of each answer.
TEST(Decide, EveryVerdictIsAllowedAndExplainsItself) {
  int cases = 0;
  for (auto action : {RecoveryAction::retry, RecoveryAction::fail, RecoveryAction::pending})
    for (const Remains* remains :
         {&alone, &in_company, &elsewhere, &unreadable, static_cast<const Remains*>(nullptr)})
      for (int bits = 0; bits < 8; ++bits)
        for (int attempt = 1; attempt <= 3; ++attempt)
          for (int crashes = 0; crashes <= 3; ++crashes) {
            auto one = orphan();
            one.expired = bits & 1;
            one.cancel_requested = bits & 2;
            one.suspect = bits & 4;
            one.attempt = attempt;
            one.crashes = crashes;
            auto verdict = decide(one, remains, action, max_crashes, 0.9);
            ++cases;
            EXPECT_EQ(verdict.lease, mine);
            EXPECT_EQ(verdict.expired, one.expired);
            EXPECT_TRUE(allowed(TaskState::running, verdict.to, Mover::recovery));
            EXPECT_GE(verdict.attempt, 0);
            EXPECT_LE(verdict.attempt, one.attempt);
            EXPECT_THAT(verdict.reason, HasSubstr(one.worker.text()));
            EXPECT_THAT(verdict.reason, testing::EndsWith("."));
            EXPECT_EQ(verdict.cause.empty(), verdict.to != TaskState::held);
            EXPECT_TRUE(verdict.to == TaskState::pending || verdict.delay == Millis{0});
            // Nothing that runs again has used up its attempts: it could never be claimed rightly.
            EXPECT_TRUE(verdict.to != TaskState::pending || verdict.attempt < one.max_attempts);
            EXPECT_EQ(decide(one, remains, action, max_crashes, 0.9).reason, verdict.reason);
          }
  EXPECT_EQ(cases, 3 * 5 * 8 * 3 * 4);
}

}  // namespace
}  // namespace holdfast
