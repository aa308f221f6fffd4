#include "contract/worker_registry_contract.hpp"

#include <gmock/gmock.h>

#include <stdexcept>
#include <thread>

#include "recovery/child_lock.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

using std::chrono::hours;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WorkerRegistryContract);

Sighting WorkerRegistryContract::sight(WorkerId worker) {
  for (auto& sighting : workers().look())
    if (sighting.status.id == worker) return sighting;
  throw std::runtime_error{"nobody sees the worker"};
}

bool WorkerRegistryContract::is_seen(WorkerId worker) {
  for (const auto& sighting : workers().look())
    if (sighting.status.id == worker) return true;
  return false;
}

WorkerStatus WorkerRegistryContract::status(WorkerId worker) {
  for (const auto& one : workers().list())
    if (one.id == worker) return one;
  throw std::runtime_error{"the worker is not listed"};
}

TEST_P(WorkerRegistryContract, WorkerIsKnownWithItsProfileOnceItIsEnlisted) {
  WorkerProfile profile{{"mail", "slow"}, {"welcome"}, 7, Millis{90'000}};
  auto enlistment = workers().enlist(profile);
  auto known = sight(enlistment->id()).status;
  EXPECT_EQ(known.state, WorkerState::running);
  EXPECT_THAT(known.queues, ElementsAre("mail", "slow"));
  EXPECT_THAT(known.kinds, ElementsAre("welcome"));
  EXPECT_EQ(known.concurrency, 7);
  EXPECT_GT(known.pid, 0);
  EXPECT_FALSE(known.host.empty());
  EXPECT_EQ(known.started_at, clock().wall());
  EXPECT_EQ(known.last_heartbeat, clock().wall()) << "enlisting is the first heartbeat";
}

TEST_P(WorkerRegistryContract, LivingWorkerIsNeitherDeadNorStale) {
  auto seen = sight(enlist());
  EXPECT_FALSE(seen.proven_dead);
  EXPECT_FALSE(seen.stale);
  EXPECT_FALSE(seen.buried);
  EXPECT_FALSE(seen.status.proof.empty());
}

TEST_P(WorkerRegistryContract, AnotherProcessSeesTheLivingAsAlive) {
  auto worker = enlist();
  auto seen = other().workers().look();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].status.id, worker);
  EXPECT_FALSE(seen[0].proven_dead);
}

TEST_P(WorkerRegistryContract, HeartbeatCarriesTimeAndTasksHeld) {
  auto worker = enlist();
  std::vector<TaskId> holding{TaskId::make(), TaskId::make()};
  clock().advance(seconds{30});
  EXPECT_TRUE(workers().beat(worker, holding));
  EXPECT_EQ(status(worker).last_heartbeat, clock().wall());
  EXPECT_EQ(status(worker).holding, holding);
}

TEST_P(WorkerRegistryContract, SilentWorkerIsStaleAfterItsLeaseAndNotBefore) {
  auto worker = enlist(Millis{90'000});
  clock().advance(seconds{90});
  EXPECT_FALSE(sight(worker).stale);
  clock().advance(seconds{5});
  auto seen = sight(worker);
  EXPECT_TRUE(seen.stale);
  EXPECT_FALSE(seen.proven_dead) << "it may be stopped";
  EXPECT_THAT(seen.status.cause, HasSubstr("silent for 95 s"));
  EXPECT_FALSE(seen.remains.readable) << "the board of a worker that may live is no evidence";
}

TEST_P(WorkerRegistryContract, HeartbeatEndsStaleness) {
  auto worker = enlist();
  clock().advance(seconds{95});
  EXPECT_TRUE(beat(worker));
  EXPECT_FALSE(sight(worker).stale);
  clock().advance(seconds{91});
  EXPECT_TRUE(sight(worker).stale);
}

TEST_P(WorkerRegistryContract, DeathIsProvenWithoutWaitingForTheLease) {
  auto worker = enlist();
  die(worker);
  auto seen = sight(worker);
  EXPECT_TRUE(seen.proven_dead);
  EXPECT_FALSE(seen.stale);
  EXPECT_FALSE(seen.status.cause.empty());
  EXPECT_EQ(seen.status.state, WorkerState::dead);
}

TEST_P(WorkerRegistryContract, DeadWorkersBoardShowsWhatWasRunningAndNothingElse) {
  auto enlistment = workers().enlist({{}, {"a"}, 3, Millis{90'000}});
  auto worker = enlistment->id();
  Lease finished{TaskId::make(), Token{5}}, running{TaskId::make(), Token{6}};
  enlistment->started(0, finished);
  enlistment->started(2, running);
  enlistment->finished(0);
  enlistment.reset();
  auto remains = sight(worker).remains;
  EXPECT_TRUE(remains.readable);
  EXPECT_THAT(remains.running, ElementsAre(running));
  EXPECT_EQ(remains.evidence, "");
}

TEST_P(WorkerRegistryContract, SlotIsUsedAgain) {
  auto enlistment = workers().enlist({{}, {"a"}, 1, Millis{90'000}});
  auto worker = enlistment->id();
  Lease second{TaskId::make(), Token{6}};
  enlistment->started(0, {TaskId::make(), Token{5}});
  enlistment->finished(0);
  enlistment->started(0, second);
  enlistment.reset();
  EXPECT_THAT(sight(worker).remains.running, ElementsAre(second));
}

TEST_P(WorkerRegistryContract, DeadWorkerIsBuriedByOneOfThoseWhoSawIt) {
  auto worker = enlist();
  die(worker);
  auto seen = sight(worker);
  EXPECT_TRUE(other().workers().bury(seen, report()));
  EXPECT_FALSE(workers().bury(seen, report())) << "somebody else was faster";
  EXPECT_TRUE(sight(worker).buried);
  EXPECT_EQ(status(worker).state, WorkerState::dead);
  EXPECT_EQ(status(worker).cause, seen.status.cause);
}

TEST_P(WorkerRegistryContract, WorkerThatWasHeardOfAfterTheLookIsNotBuried) {
  auto worker = enlist();
  clock().advance(seconds{95});
  auto seen = sight(worker);
  ASSERT_TRUE(seen.stale);
  EXPECT_TRUE(beat(worker));
  EXPECT_FALSE(workers().bury(seen, report()));
  EXPECT_TRUE(beat(worker));
}

TEST_P(WorkerRegistryContract, WorkerThatWasHeardOfAndFellSilentAgainNeedsAnotherLook) {
  auto worker = enlist();
  clock().advance(seconds{95});
  auto seen = sight(worker);
  EXPECT_TRUE(beat(worker));
  clock().advance(seconds{95});
  EXPECT_FALSE(workers().bury(seen, report()));
  EXPECT_TRUE(workers().bury(sight(worker), report()));
}

TEST_P(WorkerRegistryContract, LivingWorkerCannotBeBuried) {
  auto worker = enlist();
  EXPECT_FALSE(workers().bury(sight(worker), report()));
}

TEST_P(WorkerRegistryContract, BuriedWorkerIsToldAtItsNextHeartbeat) {
  auto worker = enlist();
  clock().advance(seconds{95});
  ASSERT_TRUE(other().workers().bury(sight(worker), report()));
  EXPECT_FALSE(beat(worker));
  EXPECT_TRUE(sight(worker).buried);
}

TEST_P(WorkerRegistryContract, UnknownWorkerCannotBeat) { EXPECT_FALSE(beat(WorkerId::make())); }

TEST_P(WorkerRegistryContract, BuriedWorkerIsClearedOnceItHoldsNothing) {
  auto worker = enlist();
  insert("a");
  auto claimed = claim_one(worker);
  EXPECT_FALSE(workers().clear(worker)) << "it lives";
  die_and_be_buried(worker);
  EXPECT_FALSE(workers().clear(worker)) << "it still holds a task";
  EXPECT_TRUE(is_seen(worker));
  Verdict back{.lease = claimed.lease, .attempt = 0, .reason = "its worker died", .cause = {}};
  ASSERT_TRUE(tasks().reclaim(std::span{&back, 1}, report()).at(0));
  EXPECT_TRUE(workers().clear(worker));
  EXPECT_FALSE(is_seen(worker));
  EXPECT_EQ(status(worker).state, WorkerState::dead) << "people still see it";
}

TEST_P(WorkerRegistryContract, BuriedWorkerShowsItsRemainsUntilItIsCleared) {
  auto enlistment = workers().enlist({{}, {"a"}, 1, Millis{90'000}});
  auto worker = enlistment->id();
  Lease running{TaskId::make(), Token{6}};
  enlistment->started(0, running);
  enlistment.reset();
  ASSERT_TRUE(workers().bury(sight(worker), report()));
  auto seen = sight(worker);
  EXPECT_TRUE(seen.buried);
  EXPECT_TRUE(seen.proven_dead);
  EXPECT_THAT(seen.remains.running, ElementsAre(running));
}

TEST_P(WorkerRegistryContract, BuriedWorkerThatWasRemoteIsKnownAsThat) {
  auto enlistment = workers().enlist({.queues = {}, .kinds = {"a"}, .remote = true});
  auto worker = enlistment->id();
  Lease running{TaskId::make(), Token{6}};
  enlistment->started(0, running);
  enlistment.reset();
  EXPECT_TRUE(sight(worker).remains.elsewhere());
  ASSERT_TRUE(workers().bury(sight(worker), report()));
  auto remains = sight(worker).remains;
  EXPECT_TRUE(remains.elsewhere());
  EXPECT_THAT(remains.running, Contains(running));
}

TEST_P(WorkerRegistryContract, WorkerThatSaidGoodbyeIsNotMissed) {
  auto worker = enlist();
  workers().retire(worker);
  die(worker);
  EXPECT_FALSE(is_seen(worker));
  EXPECT_EQ(status(worker).state, WorkerState::stopped);
  EXPECT_FALSE(beat(worker));
  EXPECT_FALSE(other().workers().wait_for_death(Millis{0}, {}));
}

TEST_P(WorkerRegistryContract, DeathIsNoticedSoonByWhoWaits) {
  auto worker = enlist();
  other();
  std::jthread killer{[&] { die(worker); }};
  EXPECT_TRUE(other().workers().wait_for_death(seconds{30}, {}));
  killer.join();
  EXPECT_TRUE(sight(worker).proven_dead);
}

TEST_P(WorkerRegistryContract, WaitingForDeathEndsInTimeWhenNobodyDies) {
  enlist();
  EXPECT_FALSE(workers().wait_for_death(Millis{20}, {}));
}

TEST_P(WorkerRegistryContract, WaitingForDeathEndsWhenAskedToStop) {
  enlist();
  std::jthread waiting{[&](std::stop_token stop) {
    EXPECT_FALSE(workers().wait_for_death(std::chrono::hours{1}, stop));
  }};
  waiting.request_stop();
}

TEST_P(WorkerRegistryContract, ClearedWorkerIsNoNewsAnyMore) {
  auto worker = enlist();
  die_and_be_buried(worker);
  EXPECT_TRUE(workers().wait_for_death(seconds{30}, {}));
  ASSERT_TRUE(workers().clear(worker));
  EXPECT_FALSE(workers().wait_for_death(Millis{150}, {}));
}

TEST_P(WorkerRegistryContract, WorkersOfAClosedStoreAreFoundDeadAtTheNextStart) {
  auto worker = enlist();
  reopen();
  EXPECT_TRUE(sight(worker).proven_dead);
}

TEST_P(WorkerRegistryContract, OldWorkersAreForgottenButRecentOnesAreNot) {
  auto old = enlist(), recent = enlist(), last = enlist();
  workers().retire(old);
  clock().advance(std::chrono::days{5});
  beat(recent), beat(last);
  workers().retire(recent);
  clock().advance(std::chrono::days{3});
  beat(last);
  workers().retire(last);
  std::vector<WorkerId> listed;
  for (const auto& one : workers().list()) listed.push_back(one.id);
  EXPECT_THAT(listed, ElementsAre(recent, last));
}

TEST_P(WorkerRegistryContract, ChildLockIsFreeForTheNextAttemptOnceReleased) {
  auto enlistment = workers().enlist({{}, {"a"}, 1, Millis{90'000}});
  Lease lease{TaskId::make(), Token{1}};
  for (int attempt = 1; attempt <= 2; ++attempt) {
    auto lock = take_child_lock(enlistment->files(), lease.id);
    EXPECT_TRUE(lock) << "attempt " << attempt;
    drop_child_lock(enlistment->files(), lease.id, lock.get());
  }
}

TEST_P(WorkerRegistryContract, WhatAWorkerCountedIsTheLastThatItTold) {
  auto told = enlist(), silent = enlist();
  EXPECT_THAT(workers().figures(hours{1}), IsEmpty());
  const auto enlisted = clock().wall();
  clock().advance(seconds{5});
  EXPECT_TRUE(workers().beat(told, {}, R"({"a":1})"));
  clock().advance(seconds{5});
  EXPECT_TRUE(workers().beat(told, {}, R"({"a":2})"));
  EXPECT_TRUE(workers().beat(silent, {}));
  auto figures = other().workers().figures(hours{1});
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].worker, told);
  EXPECT_EQ(figures[0].enlisted_at, enlisted);
  EXPECT_EQ(figures[0].at, clock().wall());
  EXPECT_EQ(figures[0].figures, R"({"a":2})");
  clock().advance(seconds{5});
  EXPECT_TRUE(workers().beat(told, {})) << "has nothing new to tell";
  EXPECT_EQ(workers().figures(hours{1})[0].figures, R"({"a":2})");
}

TEST_P(WorkerRegistryContract, AGoodbyeCarriesWhatAWorkerCountedLast) {
  auto worker = enlist();
  EXPECT_TRUE(workers().beat(worker, {}, "1"));
  clock().advance(seconds{7});
  workers().retire(worker, "2");
  auto figures = workers().figures(hours{1});
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].figures, "2");
  EXPECT_EQ(figures[0].at, clock().wall());
  clock().advance(hours{2});
  EXPECT_THAT(workers().figures(hours{1}), IsEmpty());
}

TEST_P(WorkerRegistryContract, WhatADeadWorkerToldIsStillThere) {
  auto worker = enlist();
  EXPECT_TRUE(workers().beat(worker, {}, "1"));
  die_and_be_buried(worker);
  EXPECT_FALSE(workers().beat(worker, {}, "2"));
  workers().retire(worker, "3");
  auto figures = workers().figures(hours{1});
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].figures, "1");
}

TEST_P(WorkerRegistryContract, WhatADeadWorkerWasRunningIsKnownOnOtherHostsToo) {
  insert("a");
  auto worker = enlist();
  auto claimed = claim_one(worker);
  starts(worker, claimed.lease);
  die_and_be_buried(worker);
  auto here = sight(worker);
  ASSERT_TRUE(here.buried);
  ASSERT_THAT(here.remains.running, ElementsAre(claimed.lease));

  // Another host has another folder for what workers leave.
  TempStore folder;
  ::setenv("XDG_RUNTIME_DIR", folder.folder().c_str(), 1);
  auto elsewhere = open_with(Settings{});
  for (const auto& sighting : elsewhere->workers().look()) {
    if (sighting.status.id != worker) continue;
    EXPECT_TRUE(sighting.remains.readable);
    EXPECT_FALSE(sighting.remains.machine_restarted);
    EXPECT_THAT(sighting.remains.running, ElementsAre(claimed.lease));
    return;
  }
  ADD_FAILURE() << "the buried worker is not seen";
}

}  // namespace holdfast::test
