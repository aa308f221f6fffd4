#include "tasks/lifecycle.hpp"

#include <gmock/gmock.h>

#include <array>

#include "tasks/transitions.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;

constexpr WallTime now{Millis{1'000'000}};
constexpr WallTime then{Millis{900'000}};

TaskRow running() {
  return {.id = TaskId::make(),
          .state = TaskState::running,
          .token = Token{7},
          .attempt = 2,
          .crashes = 1,
          .suspect = true,
          .claimed_at = then,
          .worker = WorkerId::make()};
}

TaskRow in(TaskState state) {
  auto row = running();
  row.state = state;
  return row;
}

Settlement end(const TaskRow& row, TaskState to, const std::string& reason = {}) {
  return {.lease = {row.id, row.token}, .to = to, .reason = reason, .attempt = row.attempt};
}

/// Everything that a store writes is as it was.
void expect_nothing_else(const TaskChange& change) {
  EXPECT_FALSE(change.new_token || change.recovered || change.cancel_requested ||
               change.forget_progress || change.run_at || change.finished_at ||
               change.result.changed || change.error.changed || change.cause.changed);
}

const Transition& step_of(const TaskChange& change) { return change.history.value().transition; }

TEST(LifecycleSettle, CompletionsSayNothingBeyondTheTask) {
  const auto row = running();
  auto settlement = end(row, TaskState::completed);
  settlement.result = "42";
  const auto change = lifecycle::settle(row, settlement, now);
  EXPECT_EQ(change.to, TaskState::completed);
  EXPECT_EQ(change.finished_at, now);
  EXPECT_EQ(change.result.text, "42");
  EXPECT_FALSE(change.run_at || change.error.changed || change.cause.changed || change.history);
  EXPECT_FALSE(change.suspect) << "it ended an attempt";
  EXPECT_EQ(change.crashes, row.crashes);
}

TEST(LifecycleSettle, OnlyAPlainEndMayBeWrittenWithoutALook) {
  const auto row = running();
  EXPECT_TRUE(lifecycle::is_plain_end(end(row, TaskState::completed)));
  EXPECT_FALSE(lifecycle::is_plain_end(end(row, TaskState::completed, "why")));
  EXPECT_FALSE(lifecycle::is_plain_end(end(row, TaskState::failed)));
  auto given_back = end(row, TaskState::completed);
  given_back.was_attempt = false;
  EXPECT_FALSE(lifecycle::is_plain_end(given_back));
  auto asked = row;
  asked.cancel_requested = true;
  EXPECT_EQ(lifecycle::settle(asked, end(row, TaskState::completed), now).to, TaskState::completed)
      << "the look would change nothing";
}

TEST(LifecycleSettle, AFailureKeepsItsReasonAsErrorAndInTheHistory) {
  const auto row = running();
  const auto change = lifecycle::settle(row, end(row, TaskState::failed, "broke"), now);
  EXPECT_EQ(change.to, TaskState::failed);
  EXPECT_EQ(change.finished_at, now);
  EXPECT_EQ(change.error.text, "broke");
  EXPECT_TRUE(change.result.changed && !change.result.text) << "of an attempt before";
  EXPECT_EQ(step_of(change).actor, "worker/" + row.worker->text());
  EXPECT_EQ(step_of(change).from, TaskState::running);
  EXPECT_EQ(step_of(change).to, TaskState::failed);
  EXPECT_EQ(step_of(change).reason, "broke");
  EXPECT_EQ(step_of(change).token, row.token);
  EXPECT_EQ(step_of(change).attempt, 2);
  EXPECT_EQ(step_of(change).at, now);
  EXPECT_EQ(change.history->claimed_at, then);
  EXPECT_EQ(change.history->worker, row.worker);
}

TEST(LifecycleSettle, ARetryRunsAgainAfterItsDelayOrAtOnce) {
  const auto row = running();
  auto settlement = end(row, TaskState::pending, "again");
  EXPECT_EQ(lifecycle::settle(row, settlement, now).run_at, WallTime{});
  settlement.delay = Millis{500};
  const auto change = lifecycle::settle(row, settlement, now);
  EXPECT_EQ(change.run_at, now + Millis{500});
  EXPECT_FALSE(change.finished_at);
  EXPECT_EQ(change.error.text, "again");
}

TEST(LifecycleSettle, WhatWasGivenBackWithoutAnAttemptStaysASuspectAndHasNoError) {
  const auto row = running();
  auto settlement = end(row, TaskState::pending);
  settlement.was_attempt = false;
  settlement.attempt = 1;
  auto change = lifecycle::settle(row, settlement, now);
  EXPECT_TRUE(change.suspect);
  EXPECT_EQ(change.attempt, 1);
  EXPECT_FALSE(change.error.changed || change.history);
  settlement.reason = "the worker stops";
  change = lifecycle::settle(row, settlement, now);
  EXPECT_FALSE(change.error.changed);
  EXPECT_EQ(step_of(change).reason, "the worker stops");
}

TEST(LifecycleSettle, HeldKeepsItsReasonAsCause) {
  const auto row = running();
  const auto change = lifecycle::settle(row, end(row, TaskState::held, "look at it"), now);
  EXPECT_EQ(change.cause.text, "look at it");
  EXPECT_FALSE(change.error.changed || change.finished_at);
  const auto silent = lifecycle::settle(row, end(row, TaskState::held), now);
  EXPECT_TRUE(silent.cause.changed && !silent.cause.text);
}

TEST(LifecycleSettle, WhatWasAskedToStopIsCancelledUnlessItIsFinished) {
  auto row = running();
  row.cancel_requested = true;
  for (auto to : {TaskState::pending, TaskState::held}) {
    const auto change = lifecycle::settle(row, end(row, to, "why"), now);
    EXPECT_EQ(change.to, TaskState::cancelled);
    EXPECT_EQ(change.finished_at, now);
    EXPECT_EQ(change.error.text, "why");
    EXPECT_FALSE(change.run_at || change.cause.changed || change.cancel_requested);
    EXPECT_EQ(step_of(change).to, TaskState::cancelled);
  }
  for (auto to : {TaskState::completed, TaskState::failed, TaskState::cancelled})
    EXPECT_EQ(lifecycle::settle(row, end(row, to), now).to, to);
}

TEST(LifecycleSettle, OneThatEndsOtherwiseThanAskedIsInTheHistoryWhateverItSays) {
  auto row = running();
  row.cancel_requested = true;
  auto settlement = end(row, TaskState::pending);
  settlement.was_attempt = false;
  EXPECT_EQ(step_of(lifecycle::settle(row, settlement, now)).to, TaskState::cancelled);
}

TEST(LifecycleSettle, AWorkerThatIsForgottenHasNoName) {
  auto row = running();
  row.worker.reset();
  EXPECT_EQ(step_of(lifecycle::settle(row, end(row, TaskState::failed), now)).actor, "worker");
}

TEST(LifecycleReclaim, AppliesTheVerdictAndRefusesTheHolder) {
  const auto row = running();
  Verdict verdict{.lease = {row.id, row.token},
                  .attempt = 1,
                  .crashes = 4,
                  .suspect = false,
                  .reason = "it died",
                  .cause = {}};
  auto change = lifecycle::reclaim(row, verdict, now);
  EXPECT_TRUE(change.new_token && change.recovered);
  EXPECT_EQ(change.to, TaskState::pending);
  EXPECT_EQ(change.attempt, 1);
  EXPECT_EQ(change.crashes, 4);
  EXPECT_FALSE(change.suspect);
  EXPECT_EQ(change.run_at, WallTime{});
  EXPECT_FALSE(change.error.changed || change.result.changed || change.finished_at);
  EXPECT_TRUE(change.cause.changed && !change.cause.text);
  EXPECT_EQ(step_of(change).actor, "system/recovery");
  EXPECT_EQ(step_of(change).token, row.token);
  EXPECT_EQ(step_of(change).attempt, 1);
  EXPECT_EQ(change.history->worker, row.worker);

  verdict.delay = Millis{300};
  EXPECT_EQ(lifecycle::reclaim(row, verdict, now).run_at, now + Millis{300});
  verdict.to = TaskState::failed;
  change = lifecycle::reclaim(row, verdict, now);
  EXPECT_EQ(change.finished_at, now);
  EXPECT_EQ(change.error.text, "it died");
  EXPECT_FALSE(change.run_at);
  verdict.to = TaskState::held;
  verdict.cause = "it kills workers";
  change = lifecycle::reclaim(row, verdict, now);
  EXPECT_EQ(change.cause.text, "it kills workers");
  EXPECT_FALSE(change.error.changed || change.finished_at);
}

TaskAdmin::Move move_to(TaskState to, std::vector<TaskState> from) {
  return {.to = to, .from = std::move(from), .actor = "ada", .reason = "wanted"};
}

TEST(LifecycleMove, RunningTasksAreAskedToStopOnceAndKeepWhatTheyHave) {
  auto row = running();
  auto cancel = move_to(TaskState::cancelled, {TaskState::running});
  cancel.ask_running = true;
  auto change = lifecycle::move(row, cancel, now).value();
  EXPECT_EQ(change.to, TaskState::running);
  EXPECT_TRUE(change.cancel_requested);
  EXPECT_EQ(step_of(change).reason, reason_to_stop);
  EXPECT_EQ(change.history->worker, row.worker);
  change.cancel_requested = false;
  expect_nothing_else(change);
  EXPECT_TRUE(change.suspect);
  row.cancel_requested = true;
  EXPECT_FALSE(lifecycle::move(row, cancel, now)) << "it was asked before";
}

TEST(LifecycleMove, AForcedCancelTakesTheTaskFromItsWorker) {
  const auto row = running();
  const auto change =
      lifecycle::move(row, move_to(TaskState::cancelled, {TaskState::running}), now).value();
  EXPECT_TRUE(change.new_token);
  EXPECT_EQ(change.to, TaskState::cancelled);
  EXPECT_EQ(change.finished_at, now);
  EXPECT_EQ(change.error.text, "wanted");
  EXPECT_EQ(change.history->claimed_at, then);
  EXPECT_FALSE(change.recovered);
}

TEST(LifecycleMove, OnlyWhatIsAskedAndAllowed) {
  const auto to_held = move_to(TaskState::held, {TaskState::pending, TaskState::failed});
  EXPECT_TRUE(lifecycle::move(in(TaskState::pending), to_held, now));
  EXPECT_FALSE(lifecycle::move(in(TaskState::failed), to_held, now)) << "not allowed";
  EXPECT_FALSE(lifecycle::move(in(TaskState::blocked), to_held, now)) << "not asked";
  const auto every =
      std::vector{TaskState::pending,   TaskState::running, TaskState::completed, TaskState::failed,
                  TaskState::cancelled, TaskState::blocked, TaskState::held};
  for (auto from : every)
    for (auto to : every) {
      const auto change = lifecycle::move(in(from), move_to(to, every), now);
      EXPECT_EQ(change.has_value(), allowed(from, to, Mover::person))
          << to_string(from) << " -> " << to_string(to);
    }
}

TEST(LifecycleMove, AHeldTaskKeepsTheReasonAsCause) {
  const auto change =
      lifecycle::move(in(TaskState::pending), move_to(TaskState::held, {TaskState::pending}), now)
          .value();
  EXPECT_EQ(change.cause.text, "wanted");
  EXPECT_FALSE(change.error.changed || change.forget_progress || change.new_token);
  EXPECT_FALSE(change.history->worker) << "no attempt ended";
}

TEST(LifecycleMove, RunningAgainBeginsAnewWhereThatIsAsked) {
  auto retry = move_to(TaskState::pending, {TaskState::failed, TaskState::held});
  auto change = lifecycle::move(in(TaskState::failed), retry, now).value();
  EXPECT_EQ(change.attempt, 2);
  EXPECT_TRUE(change.suspect);
  EXPECT_FALSE(change.error.changed);
  EXPECT_TRUE(change.forget_progress);
  EXPECT_TRUE(change.result.changed && !change.result.text);
  EXPECT_TRUE(change.cause.changed && !change.cause.text);
  EXPECT_EQ(change.run_at, WallTime{});
  retry.fresh_attempts = true;
  change = lifecycle::move(in(TaskState::failed), retry, now).value();
  EXPECT_EQ(change.attempt, 0);
  EXPECT_EQ(change.crashes, 0);
  EXPECT_FALSE(change.suspect);
  EXPECT_TRUE(change.error.changed && !change.error.text);
  EXPECT_EQ(step_of(change).attempt, 0);
}

TEST(LifecycleMove, WhatHadNotBegunKeepsItsTime) {
  const auto release = move_to(TaskState::pending, {TaskState::held});
  auto row = in(TaskState::held);
  EXPECT_EQ(lifecycle::move(row, release, now)->run_at, WallTime{});
  row.attempt = 0;
  EXPECT_FALSE(lifecycle::move(row, release, now)->run_at);
}

TEST(LifecycleMove, WhatWaitsForOthersIsBlocked) {
  auto row = in(TaskState::cancelled);
  row.waits = true;
  const auto change =
      lifecycle::move(row, move_to(TaskState::pending, {TaskState::cancelled}), now).value();
  EXPECT_EQ(change.to, TaskState::blocked);
  EXPECT_FALSE(change.run_at || change.finished_at);
  EXPECT_TRUE(change.forget_progress);
}

TEST(LifecycleMove, AKeyThatAnotherHasKeepsAFinishedTaskFinished) {
  auto row = in(TaskState::failed);
  row.key_taken = true;
  EXPECT_FALSE(lifecycle::move(row, move_to(TaskState::pending, {TaskState::failed}), now));
  EXPECT_TRUE(lifecycle::move(row, move_to(TaskState::cancelled, {TaskState::failed}), now));
  row.state = TaskState::held;
  EXPECT_TRUE(lifecycle::move(row, move_to(TaskState::pending, {TaskState::held}), now))
      << "the key is its own";
}

TEST(LifecycleAfterEnd, EverythingCompletedMakesPending) {
  auto row = in(TaskState::blocked);
  const std::array ended{EndedTask{TaskId::make(), TaskState::completed, "ada"}};
  const auto change = lifecycle::after_end(ended, row, now).value();
  EXPECT_EQ(change.to, TaskState::pending);
  EXPECT_EQ(step_of(change).actor, "system/dependency");
  expect_nothing_else(change);
  row.waits = true;
  EXPECT_FALSE(lifecycle::after_end(ended, row, now));
}

TEST(LifecycleAfterEnd, ACancelledOneCancelsWhateverElseIsWaitedFor) {
  auto row = in(TaskState::blocked);
  row.waits = true;
  const EndedTask completed{TaskId::make(), TaskState::completed, "eve"};
  const EndedTask cancelled{TaskId::make(), TaskState::cancelled, "ada"};
  const auto change = lifecycle::after_end(std::array{completed, cancelled}, row, now).value();
  EXPECT_EQ(change.to, TaskState::cancelled);
  EXPECT_EQ(change.finished_at, now);
  EXPECT_THAT(change.error.text.value(), HasSubstr(cancelled.id.text()));
  EXPECT_EQ(step_of(change).actor, "ada");
  EXPECT_EQ(step_of(change).reason, change.error.text);
}

TEST(LifecycleAfterEnd, OtherEndsAndOtherStatesChangeNothing) {
  const auto after = [](TaskState end, TaskState of_dependent) {
    return lifecycle::after_end(std::array{EndedTask{TaskId::make(), end}}, in(of_dependent), now);
  };
  for (auto end : {TaskState::failed, TaskState::held, TaskState::pending})
    EXPECT_FALSE(after(end, TaskState::blocked));
  for (auto state : {TaskState::pending, TaskState::held, TaskState::cancelled})
    EXPECT_FALSE(after(TaskState::cancelled, state));
}

TEST(LifecycleSameChange, IsOneFromTheSameRowButForTheId) {
  const auto row = running();
  auto other = row;
  other.id = TaskId::make();
  const auto change = lifecycle::settle(row, end(row, TaskState::failed, "broke"), now);
  EXPECT_TRUE(
      same_change(change, lifecycle::settle(other, end(other, TaskState::failed, "broke"), now)));
  EXPECT_FALSE(same_change(
      change, lifecycle::settle(other, end(other, TaskState::failed, "broke twice"), now)));
  EXPECT_FALSE(
      same_change(change, lifecycle::settle(other, end(other, TaskState::held, "broke"), now)));
  EXPECT_FALSE(
      same_change(change, lifecycle::settle(other, end(other, TaskState::completed), now)));
  other.claimed_at = now;  // only the history tells
  EXPECT_FALSE(
      same_change(change, lifecycle::settle(other, end(other, TaskState::failed, "broke"), now)));
  other = row;
  other.cancel_requested = true;
  EXPECT_FALSE(
      same_change(change, lifecycle::settle(other, end(other, TaskState::failed, "broke"), now)));
}

TEST(LifecycleHold, KeepsATaskFromItsWorkerToo) {
  const auto row = running();
  const auto change = lifecycle::hold(row, "system/restore", "from a backup", now);
  EXPECT_EQ(change.to, TaskState::held);
  EXPECT_TRUE(change.new_token);
  EXPECT_EQ(change.cause.text, "from a backup");
  EXPECT_EQ(change.history->worker, row.worker);
  EXPECT_EQ(step_of(change).actor, "system/restore");
  EXPECT_FALSE(lifecycle::hold(in(TaskState::blocked), "x", "y", now).history->worker);
}

}  // namespace
}  // namespace holdfast
