#include "contract/recovery_contract.hpp"

#include <gmock/gmock.h>

#include "recovery/decide.hpp"

namespace holdfast::test {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RecoveryContract);

namespace {

/// A store in which somebody else has the rows of all orphans locked, for a moment from the first
/// time that one is to be taken back.
class LockedForAMoment : public LeasesOfStore {
 public:
  using LeasesOfStore::LeasesOfStore;

  std::vector<bool> reclaim(std::span<const Verdict> verdicts, const ReportHead& report) override {
    auto now = std::chrono::steady_clock::now();
    if (!first_) first_ = now;
    if (now < *first_ + std::chrono::milliseconds{80}) return std::vector<bool>(verdicts.size());
    return LeasesOfStore::reclaim(verdicts, report);
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> first_;
};

}  // namespace

TaskId RecoveryContract::make_stale(TaskOptions options) {
  auto id = insert("a", std::move(options));
  claim_one(enlist());
  clock().advance(seconds{91});
  return id;
}

TaskId RecoveryContract::make_culprit(TaskOptions options) {
  auto id = insert("a", std::move(options));
  auto worker = enlist();
  starts(worker, claim_one(worker).lease);
  die(worker);
  return id;
}

TEST_P(RecoveryContract, LeaseThatRanOutIsChargedToNobody) {
  auto id = make_stale({.max_attempts = 1});
  auto report = inspector().recover(RecoveryAction::retry);
  EXPECT_EQ(report.orphans.pending, 1);
  EXPECT_EQ(state(id), TaskState::pending);
  EXPECT_EQ(record(id).attempt, 0);
}

TEST_P(RecoveryContract, RetryChargesTheAttemptAndHeedsTheLimit) {
  auto again = make_culprit({.max_attempts = 2});
  auto over = make_culprit({.max_attempts = 1});
  auto report = inspector().recover(RecoveryAction::retry);
  EXPECT_EQ(report.orphans.pending, 1);
  EXPECT_EQ(report.orphans.failed, 1);
  EXPECT_EQ(state(again), TaskState::pending);
  EXPECT_EQ(record(again).attempt, 1);
  EXPECT_EQ(state(over), TaskState::failed);
  EXPECT_THAT(record(over).error, HasSubstr("attempt 1 of 1"));
}

TEST_P(RecoveryContract, PendingChargesNothing) {
  auto id = make_culprit({.max_attempts = 1});
  auto report = inspector().recover(RecoveryAction::pending);
  EXPECT_EQ(report.tasks.at(0).action, RecoveryAction::pending);
  EXPECT_EQ(state(id), TaskState::pending);
  EXPECT_EQ(record(id).attempt, 0);
  EXPECT_LE(record(id).run_at, clock().wall()) << "at once";
}

TEST_P(RecoveryContract, FailEndsItWhateverIsLeft) {
  auto id = make_stale({.max_attempts = 100});
  auto report = inspector().recover(RecoveryAction::fail);
  EXPECT_EQ(report.action, RecoveryAction::fail);
  EXPECT_EQ(report.orphans.failed, 1);
  EXPECT_EQ(state(id), TaskState::failed);
}

TEST_P(RecoveryContract, TheReportThatIsReturnedIsTheOneThatIsStored) {
  make_stale();
  make_stale();
  auto report = inspector().recover();
  EXPECT_THAT(report.dead_workers, SizeIs(2));
  ASSERT_THAT(stored(), SizeIs(1));
  EXPECT_EQ(to_json(stored()[0]), to_json(report));
  EXPECT_FALSE(inspector().recover().found_anything());
  EXPECT_THAT(stored(), SizeIs(1)) << "nothing found, nothing stored";
}

TEST_P(RecoveryContract, DryRunSaysWhatWouldBeDoneAndChangesNothing) {
  auto id = make_stale({.max_attempts = 1});
  auto dead = enlist();
  auto other_id = insert("a");
  claim_one(dead);
  die(dead);
  auto plan = inspector().plan_recovery();
  EXPECT_EQ(plan.state, ReportState::dry_run);
  EXPECT_EQ(plan.orphans.all(), 2);
  EXPECT_THAT(plan.dead_workers, SizeIs(2));
  EXPECT_EQ(state(id), TaskState::running);
  EXPECT_EQ(state(other_id), TaskState::running);
  EXPECT_THAT(stored(), IsEmpty());
  for (const auto& sighting : workers().look()) EXPECT_FALSE(sighting.buried);

  auto done = inspector().recover();
  auto by_id = [](const RecoveredTask& one, const RecoveredTask& another) {
    return one.id < another.id;
  };
  std::ranges::sort(plan.tasks, by_id);
  std::ranges::sort(done.tasks, by_id);
  ASSERT_THAT(done.tasks, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(plan.tasks[i].id, done.tasks[i].id);
    EXPECT_EQ(plan.tasks[i].now, done.tasks[i].now);
    EXPECT_EQ(plan.tasks[i].reason, done.tasks[i].reason);
  }
}

TEST_P(RecoveryContract, StopsWhenAskedToAndTheNextOneGoesOn) {
  constexpr int count = 1'200;
  std::vector<NewTask> many(count, NewTask{"a", "{}"});
  for (auto& task : many) task.options.id = TaskId::make();
  tasks().insert(many);
  auto worker = enlist();
  ASSERT_THAT(claim(worker, count), SizeIs(count));
  die(worker);
  std::stop_source stop;
  engine().events().subscribe([&](const Event& event) {
    if (std::holds_alternative<TaskChanged>(event)) stop.request_stop();
  });
  auto report = inspector().recover({}, stop.get_token());
  EXPECT_GT(report.orphans.taken(), 0);
  EXPECT_LT(report.orphans.taken(), count);
  EXPECT_EQ(stored().at(0).state, ReportState::complete);
  auto rest = inspector().recover();
  EXPECT_EQ(report.orphans.taken() + rest.orphans.taken(), count);
}

TEST_P(RecoveryContract, StoppedBeforeItBeganItDoesNothing) {
  make_stale();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(inspector().recover({}, stop.get_token()).found_anything());
  EXPECT_THAT(stored(), IsEmpty());
  EXPECT_EQ(inspector().recover().orphans.taken(), 1);
}

TEST_P(RecoveryContract, WhatIsLockedForAMomentIsTakenBackAfterIt) {
  auto id = make_stale();
  LockedForAMoment locked{tasks()};
  auto recovery = recovery_of(locked);
  auto report = recovery.run_once("test");
  EXPECT_EQ(report.orphans.not_taken, 0);
  EXPECT_EQ(report.orphans.pending, 1);
  EXPECT_EQ(state(id), TaskState::pending);
}

TEST_P(RecoveryContract, WhoBuriedAWorkerTakesBackWhatItHeldAndOneReportSaysBoth) {
  auto id = make_culprit();
  const ReportHead other{ReportId::make(), clock().wall(), "test", RecoveryAction::retry};
  auto dead = workers().look();
  ASSERT_THAT(dead, SizeIs(1));
  ASSERT_TRUE(workers().bury(dead[0], other));
  int pauses = 0;
  auto other_goes_on = [&](std::stop_token) {
    if (++pauses > 1) return;
    auto orphans = tasks().orphans(10);
    ASSERT_THAT(orphans, SizeIs(1));
    tasks().reclaim(std::vector{decide(orphans[0], nullptr, {}, 0)}, other);
  };
  auto recovery = recovery_of(tasks(), other_goes_on);
  EXPECT_FALSE(recovery.run_once("test").found_anything());
  EXPECT_EQ(pauses, 1);
  ASSERT_THAT(stored(), SizeIs(1));
  EXPECT_THAT(stored()[0].dead_workers, SizeIs(1));
  EXPECT_EQ(stored()[0].orphans.taken(), 1);
  EXPECT_NE(state(id), TaskState::running);
}

TEST_P(RecoveryContract, WhatOneWhoDiedLeftBehindIsTakenBackByTheNext) {
  auto id = make_culprit();
  auto dead = workers().look();
  ASSERT_THAT(dead, SizeIs(1));
  ASSERT_TRUE(workers().bury(dead[0], {ReportId::make(), clock().wall(), "test", {}}));
  auto report = inspector().recover();
  EXPECT_EQ(report.orphans.taken(), 1);
  EXPECT_NE(state(id), TaskState::running);
}

TEST_P(RecoveryContract, UncleanStartUpIsReportedAndACleanOneIsNot) {
  auto recovery = recovery_of(tasks());
  StartUp start_up;
  start_up.wal_frames_checkpointed = 145;
  auto clean = recovery.run_once("start-up", {}, start_up);
  EXPECT_TRUE(clean.start_up) << "whoever asked may know";
  EXPECT_THAT(stored(), IsEmpty());
  start_up.unclean = true;
  recovery.run_once("start-up", {}, start_up);
  ASSERT_THAT(stored(), SizeIs(1));
  EXPECT_EQ(stored()[0].trigger, "start-up");
  EXPECT_EQ(stored()[0].start_up->wal_frames_checkpointed, 145);
  EXPECT_EQ(stored()[0].orphans.all(), 0);
}

TEST_P(RecoveryContract, StaleWorkersAreListedWithWhatTheyHold) {
  auto living = enlist(seconds{1'000});
  auto silent = enlist();
  auto dead = enlist(seconds{1'000});
  auto first = insert("a");
  claim_one(silent);
  auto second = insert("a");
  claim_one(dead);
  EXPECT_THAT(inspector().detect_stale_workers(), IsEmpty());
  auto heard = clock().wall();
  clock().advance(seconds{91});
  die(dead);
  auto stale = inspector().detect_stale_workers();
  ASSERT_THAT(stale, SizeIs(2));
  if (stale[0].id != silent) std::swap(stale[0], stale[1]);
  EXPECT_EQ(stale[0].id, silent);
  EXPECT_EQ(stale[0].last_heartbeat, heard);
  EXPECT_THAT(stale[0].tasks, ElementsAre(first));
  EXPECT_FALSE(stale[0].proven_dead);
  EXPECT_EQ(stale[1].id, dead);
  EXPECT_THAT(stale[1].tasks, ElementsAre(second));
  EXPECT_TRUE(stale[1].proven_dead);
  EXPECT_NE(stale[1].id, living);
  inspector().recover();
  EXPECT_THAT(inspector().detect_stale_workers(), IsEmpty());
}

TEST_P(RecoveryContract, HeartbeatSentForAWorkerKeepsItAndItsTasks) {
  auto worker = enlist();
  auto id = insert("a"), unnamed = insert("a");
  claim(worker, 2);
  clock().advance(seconds{80});
  auto answer = inspector().send_heartbeat(worker, {id});
  EXPECT_TRUE(answer.accepted);
  EXPECT_THAT(answer.stop, IsEmpty());
  clock().advance(seconds{80});
  EXPECT_THAT(inspector().detect_stale_workers(), IsEmpty());
  EXPECT_THAT(orphan_ids(), ElementsAre(unnamed));
  EXPECT_THAT(workers().list().at(0).holding, ElementsAre(id));
}

TEST_P(RecoveryContract, HeartbeatTellsWhatToStopAndWhoIsDead) {
  auto worker = enlist();
  auto cancelled = insert("a"), done = insert("a");
  auto claimed = claim(worker, 2);
  ASSERT_THAT(claimed, SizeIs(2));
  ask_to_stop(cancelled);
  for (const auto& each : claimed)
    if (each.lease.id == done) complete(each);
  auto answer = inspector().send_heartbeat(worker, {cancelled, done});
  EXPECT_TRUE(answer.accepted);
  EXPECT_THAT(answer.stop, ElementsAre(cancelled, done));
  EXPECT_FALSE(inspector().send_heartbeat(WorkerId::make()).accepted);
  die_and_be_buried(worker);
  answer = inspector().send_heartbeat(worker, {cancelled});
  EXPECT_FALSE(answer.accepted);
  EXPECT_THAT(answer.stop, ElementsAre(cancelled));
}

}  // namespace holdfast::test
