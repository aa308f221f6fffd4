#include "tasks/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const WallTime now{std::chrono::seconds{1'700'000'000}};
const WorkerId worker_id = WorkerId::make();

TaskRecord task(TaskState state = TaskState::pending) {
  TaskRecord record;
  record.id = TaskId::make();
  record.kind = "email";
  record.queue = "mail";
  record.state = state;
  record.created_at = record.run_at = now - 5min;
  return record;
}

WorkerStatus worker() {
  WorkerStatus status;
  status.id = worker_id;
  status.host = "box";
  status.pid = 4711;
  status.kinds = {"email"};
  status.concurrency = 2;
  status.last_heartbeat = now - 12s;
  status.proof = "lock held";
  return status;
}

Circumstances around(std::vector<WorkerStatus> workers = {worker()}) {
  Circumstances circumstances;
  circumstances.workers = std::move(workers);
  circumstances.now = now;
  return circumstances;
}

TaskRecord running() {
  auto record = task(TaskState::running);
  record.worker = worker_id;
  record.claimed_at = now - 3min;
  record.attempt = 1;
  return record;
}

TEST(Explain, AScheduledTaskNamesItsTime) {
  auto record = task();
  record.run_at = now + 20s;
  EXPECT_EQ(explain(record, around()),
            "It is scheduled to run no sooner than 2023-11-14T22:13:40.000Z (in 20s).");
}

TEST(Explain, ABackoffNamesTheFailureBeforeIt) {
  auto record = task();
  record.run_at = now + 20s;
  record.attempt = 1;
  record.error = "Attempt 1 of 3 failed: no route.";
  auto text = explain(record, around());
  EXPECT_THAT(text, HasSubstr("in 20s"));
  EXPECT_THAT(text, HasSubstr("before attempt 2 of 3"));
  EXPECT_THAT(text, HasSubstr("(Attempt 1 of 3 failed: no route)"));
}

TEST(Explain, ABackoffAfterACrashNamesRecovery) {
  auto record = task();
  record.run_at = now + 20s;
  record.recoveries = 2;
  EXPECT_THAT(explain(record, around()), HasSubstr("recovery took it back"));
}

TEST(Explain, APausedQueueIsNamed) {
  auto paused = around();
  paused.queue_paused = true;
  EXPECT_THAT(explain(task(), paused), HasSubstr("Queue 'mail' is paused"));
  auto record = task();
  record.run_at = now + 20s;
  EXPECT_THAT(explain(record, paused), HasSubstr("queue 'mail' is paused as well"));
}

TEST(Explain, WithoutAWorkerForItNobodyWillRunIt) {
  auto other_kind = worker(), other_queue = worker(), dead = worker(), stopped = worker();
  other_kind.kinds = {"sms"};
  other_queue.queues = {"letters"};
  dead.state = WorkerState::dead;
  stopped.state = WorkerState::stopped;
  for (const auto& circumstances :
       {around({}), around({other_kind, other_queue}), around({dead, stopped})})
    EXPECT_EQ(explain(task(), circumstances),
              "No running worker handles kind 'email' in queue 'mail': start one.");
}

TEST(Explain, ALimitThatHoldsItBackIsNamed) {
  auto record = task();
  record.limit_key = "acme";
  auto limited = [&](Limit limit, std::vector<LimitUse> uses) {
    auto circumstances = around();
    circumstances.limits = {{std::move(limit), std::move(uses)}};
    return explain(record, circumstances);
  };
  EXPECT_EQ(limited({LimitScope::queue, "mail", 2}, {{LimitScope::queue, "mail", 2}}),
            "A limit lets 2 of queue 'mail' run at once, and 2 are running: it waits for room.");
  EXPECT_THAT(limited({LimitScope::key, "*", 1}, {{LimitScope::key, "acme", 1}}),
              HasSubstr("1 of key 'acme' run at once, and 1 is running"));
  EXPECT_THAT(limited({LimitScope::kind, "email", {}, Rate{100, 1min}},
                      {{LimitScope::kind, "email", 0, 0}}),
              HasSubstr("lets 100 of kind 'email' start in 1m"));
  EXPECT_THAT(limited({LimitScope::key, "acme", 0}, {}), HasSubstr("lets no task of key 'acme'"));
  for (const auto& fine :
       {limited({LimitScope::queue, "mail", 3}, {{LimitScope::queue, "mail", 2}}),
        limited({LimitScope::queue, "other", 0}, {}), limited({LimitScope::key, "*", 1}, {}),
        limited({LimitScope::kind, "email", {}, Rate{100, 1min}},
                {{LimitScope::kind, "email", 0, 1}})})
    EXPECT_THAT(fine, HasSubstr("about to be claimed"));
}

TEST(Explain, ALimitOfItsOwnComesBeforeThatOfEach) {
  auto record = task();
  record.limit_key = "acme";
  auto circumstances = around();
  circumstances.limits = {{{LimitScope::key, "*", 0}}, {{LimitScope::key, "acme", 5}}};
  EXPECT_THAT(explain(record, circumstances), HasSubstr("about to be claimed"));
}

TEST(Explain, BusyWorkersAreCounted) {
  auto busy = worker();
  busy.holding = {TaskId::make(), TaskId::make()};
  EXPECT_THAT(explain(task(), around({busy})),
              HasSubstr("became due 5m ago, but all 2 handlers of the 1 worker for it are busy"));
}

TEST(Explain, AnIdleWorkerIsAboutToClaimIt) {
  auto all_queues_and_kinds = worker();
  all_queues_and_kinds.kinds.clear();
  for (const auto& idle : {worker(), all_queues_and_kinds})
    EXPECT_THAT(explain(task(), around({idle})), HasSubstr("about to be claimed"));
}

TEST(Explain, ASuspectWaitsToRunAlone) {
  auto record = task();
  record.suspect = true;
  EXPECT_THAT(explain(record, around()), HasSubstr("runs alone next"));
}

TEST(Explain, ABlockedTaskNamesWhatItWaitsForAndWhatMustBeRetried) {
  auto record = task(TaskState::blocked);
  auto going = task(TaskState::running), dead = task(TaskState::failed);
  record.waits_for = {going.id};
  auto circumstances = around();
  circumstances.dependencies = {going};
  EXPECT_THAT(explain(record, circumstances),
              HasSubstr("waits for 1 other task to complete: " + going.id.text() + " (running)."));
  record.waits_for.push_back(dead.id);
  circumstances.dependencies.push_back(dead);
  EXPECT_THAT(explain(record, circumstances),
              HasSubstr(dead.id.text() + " (failed); the failed ones must be retried first"));
}

TEST(Explain, ManyDependenciesAreCountedNotListed) {
  auto record = task(TaskState::blocked);
  auto circumstances = around();
  circumstances.dependencies.assign(40, task());
  EXPECT_THAT(explain(record, circumstances), HasSubstr("and 35 more"));
}

TEST(Explain, ARunningTaskNamesItsWorkerSinceWhenAndItsHeartbeat) {
  auto record = running();
  record.progress = 0.4;
  EXPECT_EQ(explain(record, around()),
            "Worker " + worker_id.text() +
                " (box, pid 4711) has held it since 2023-11-14T22:10:20.000Z (3m ago): attempt 1 "
                "of 3, 40 % done, last heartbeat 12s ago.");
}

TEST(Explain, ACancelThatWasAskedForIsPending) {
  auto record = running();
  record.cancel_requested = true;
  EXPECT_THAT(explain(record, around()), HasSubstr("asked to stop"));
}

TEST(Explain, ADeadOrUnknownWorkersTaskWaitsForRecovery) {
  auto dead = worker();
  dead.state = WorkerState::dead;
  dead.cause = "its lock is free";
  EXPECT_THAT(explain(running(), around({dead})),
              HasSubstr("is dead (its lock is free, last heartbeat 12s ago); recovery"));
  EXPECT_THAT(explain(running(), around({})), HasSubstr("not known any more"));
}

TEST(Explain, AHeldTaskNamesTheCauseAndTheWayOut) {
  auto record = task(TaskState::held);
  record.cause = "It has ended 3 workers.";
  EXPECT_EQ(explain(record, around()),
            "It is held for an operator (It has ended 3 workers): retry it to release it, or "
            "cancel it.");
}

TEST(Explain, AFinishedTaskSaysSinceWhen) {
  auto record = task(TaskState::completed);
  record.finished_at = now - 1h;
  record.error = "of an earlier attempt";
  EXPECT_EQ(explain(record, around()),
            "It has been completed since 2023-11-14T21:13:20.000Z (1h ago).");
  record.state = TaskState::failed;
  record.error = "No route.";
  EXPECT_THAT(explain(record, around()), HasSubstr("failed since"));
  EXPECT_THAT(explain(record, around()), HasSubstr("(1h ago), with \"No route\": retry it"));
  record.state = TaskState::cancelled;
  record.error.clear();
  EXPECT_THAT(explain(record, around()), HasSubstr("(1h ago): retry it"));
}

}  // namespace
}  // namespace holdfast
