#include "contract/expiry_contract.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "recovery/child_lock.hpp"
#include "support/process.hpp"

namespace holdfast::test {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExpiryContract);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SteadyClockContract);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ServerClockContract);

namespace {

/// A store whose leases end by a clock that somebody may set.
class MayBeSet : public LeasesOfStore {
 public:
  using LeasesOfStore::LeasesOfStore;

  std::vector<bool> reclaim(std::span<const Verdict> verdicts, const ReportHead& report) override {
    if (refuses) return std::vector<bool>(verdicts.size());
    return LeasesOfStore::reclaim(verdicts, report);
  }
  bool clock_may_be_set() const override { return true; }

  bool refuses = false;
};

Sighting sight(WorkerRegistry& workers, WorkerId worker) {
  for (auto& sighting : workers.look())
    if (sighting.status.id == worker) return sighting;
  throw std::runtime_error{"nobody sees the worker"};
}

}  // namespace

/// Recovers in the way of a process that goes on: what it saw once it remembers.
struct ExpiryContract::Recoverer {
  explicit Recoverer(ExpiryContract& test)
      : leases{test.tasks()}, recovery{test.recovery_of(leases, [](const std::stop_token&) {})} {}
  RecoveryReport look() { return recovery.run_once("watch"); }

  MayBeSet leases;
  Recovery recovery;
};

TEST_P(ExpiryContract, ByAClockThatMayBeSetOnlyTheSecondLookBelievesInAnEnd) {
  auto id = make_stale();
  Recoverer recoverer{*this};
  auto first = recoverer.look();
  EXPECT_FALSE(first.found_anything());
  EXPECT_EQ(first.waiting, 2) << "a worker and its lease";
  EXPECT_EQ(first.look_again, seconds{45}) << "half as much again as a heartbeat takes";
  EXPECT_EQ(recoverer.recovery.look_again(), clock().steady() + first.look_again);
  clock().advance(seconds{44});
  EXPECT_FALSE(recoverer.look().found_anything());
  EXPECT_EQ(state(id), TaskState::running);
  clock().advance(seconds{1});
  EXPECT_EQ(recoverer.look().orphans.pending, 1);
  EXPECT_EQ(state(id), TaskState::pending);
  EXPECT_EQ(recoverer.look().waiting, 0);
}

TEST_P(ExpiryContract, WhatIsRenewedBetweenTwoLooksIsKept) {
  auto worker = enlist();
  auto id = insert("a");
  auto claimed = claim_one(worker);
  Recoverer recoverer{*this};
  for (int steps = 0; steps < 3; ++steps) {
    clock().advance(seconds{91});  // as by a step of the clock
    EXPECT_EQ(recoverer.look().waiting, 2);
    EXPECT_TRUE(workers().beat(worker, {}));
    EXPECT_EQ(renew(claimed), Renewal::kept);
    EXPECT_EQ(recoverer.look().waiting, 0);
  }
  EXPECT_THAT(stored(), IsEmpty());
  EXPECT_EQ(state(id), TaskState::running);
  EXPECT_EQ(complete(claimed), Settled::accepted);
}

TEST_P(ExpiryContract, AChildProcessIsNotEndedBeforeItsAttemptIsBelievedToBeOver) {
  auto id = insert("a");
  auto enlistment = workers().enlist({{}, {"a"}, 1, Millis{90'000}});
  claim_one(enlistment->id());
  auto lock = take_child_lock(enlistment->files(), id);
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  auto has_ended = [&] { return ::waitpid(child, nullptr, WNOHANG) == child; };
  clock().advance(seconds{91});
  Recoverer recoverer{*this};
  recoverer.look();
  inspector().plan_recovery();
  inspector().detect_stale_workers();
  EXPECT_FALSE(eventually(has_ended, std::chrono::milliseconds{200})) << "by a look";
  clock().advance(seconds{91});
  EXPECT_TRUE(eventually([&] {
    recoverer.look();
    return state(id) == TaskState::pending;
  }));
  EXPECT_TRUE(has_ended());
}

TEST_P(ExpiryContract, AnotherRecovererHasToLookTwiceItself) {
  auto id = make_stale();
  Recoverer one{*this}, another{*this};
  one.look();
  clock().advance(seconds{45});
  EXPECT_FALSE(another.look().found_anything());
  EXPECT_EQ(state(id), TaskState::running);
  EXPECT_EQ(one.look().orphans.pending, 1);
}

TEST_P(ExpiryContract, ProofOfDeathNeedsNoSecondLook) {
  auto id = make_culprit();
  EXPECT_EQ(Recoverer{*this}.look().orphans.pending, 1);
  EXPECT_EQ(state(id), TaskState::pending);
}

TEST_P(ExpiryContract, ManyThatEndAtOnceAreTakenBackALittleAtATime) {
  constexpr int workers_at_once = 8;
  std::vector<std::string> alarms;
  engine().events().subscribe([&](const Event& event) {
    if (std::holds_alternative<MassExpiry>(event)) alarms.push_back(to_text(event));
  });
  for (int i = 0; i < workers_at_once; ++i) {
    insert("a");
    claim_one(enlist());
  }
  clock().advance(seconds{91});
  Recoverer recoverer{*this};
  recoverer.look();
  EXPECT_THAT(alarms, ElementsAre(HasSubstr("8 of 8 workers")));
  ASSERT_THAT(stored(), SizeIs(1));
  EXPECT_THAT(stored()[0].errors, ElementsAre(HasSubstr("8 of 8 workers")));
  for (auto taken : {2, 2, 2, 2}) {
    clock().advance(seconds{44});
    EXPECT_EQ(recoverer.look().orphans.taken(), 0);
    clock().advance(seconds{1});
    EXPECT_EQ(recoverer.look().orphans.taken(), taken);
  }
  EXPECT_THAT(alarms, SizeIs(1));
  EXPECT_THAT(orphan_ids(), IsEmpty());
}

TEST_P(ExpiryContract, WhatStaysRefusedIsReportedOnce) {
  make_culprit();
  Recoverer recoverer{*this};
  recoverer.leases.refuses = true;
  auto report = recoverer.look();
  EXPECT_EQ(report.orphans.not_taken, 1);
  EXPECT_THAT(report.tasks.at(0).error, HasSubstr("has it locked"));
  for (int looks = 0; looks < 5; ++looks) {
    clock().advance(seconds{31});
    EXPECT_EQ(recoverer.look().orphans.not_taken, 0);
  }
  EXPECT_EQ(recoverer.recovery.run_once("operator").orphans.not_taken, 1) << "who asks is told";
  recoverer.leases.refuses = false;
  EXPECT_EQ(recoverer.look().orphans.taken(), 1);
}

TEST_P(SteadyClockContract, SettingTheWallClockExpiresNothing) {
  auto worker = enlist();
  insert("a");
  auto claimed = claim_one(worker);
  clock().jump_wall(std::chrono::hours{24 * 365});
  EXPECT_THAT(orphan_ids(), IsEmpty());
  clock().jump_wall(-std::chrono::hours{2 * 24 * 365});
  EXPECT_THAT(orphan_ids(), IsEmpty());
  EXPECT_EQ(renew(claimed), Renewal::kept);
}

TEST_P(SteadyClockContract, WallClockJumpsMakeNobodyStale) {
  auto worker = enlist();
  clock().jump_wall(std::chrono::hours{24});
  EXPECT_FALSE(sight(workers(), worker).stale);
}

TEST_P(ServerClockContract, WhatWasRenewedAndRanOutAgainIsNotWhatALookSaw) {
  auto worker = enlist();
  insert("a");
  auto claimed = claim_one(worker);
  clock().advance(seconds{91});
  auto verdict = put_back(only_orphan());
  auto seen = sight(workers(), worker);
  ASSERT_TRUE(seen.stale);
  ASSERT_EQ(renew(claimed), Renewal::kept);
  ASSERT_TRUE(workers().beat(worker, {}));
  clock().advance(seconds{91});
  EXPECT_FALSE(reclaim(verdict));
  EXPECT_FALSE(workers().bury(seen, report()));
  EXPECT_TRUE(reclaim(put_back(only_orphan())));
  EXPECT_TRUE(workers().bury(sight(workers(), worker), report()));
}

TEST_P(ServerClockContract, LeaseThatEndsLaterThanTheClockCouldHaveSaidIsPastItsTime) {
  auto worker = enlist();
  auto id = insert("a");
  auto claimed = claim_one(worker);
  clock().set_back(seconds{60});
  EXPECT_THAT(orphan_ids(), IsEmpty()) << "it will end soon enough";
  clock().set_back(std::chrono::hours{1});
  // What the store has seen of its clock is what a look has seen.
  auto orphan = only_orphan();
  EXPECT_EQ(orphan.lease.id, id);
  EXPECT_TRUE(orphan.expired);
  EXPECT_TRUE(orphan.ahead);
  auto verdict = put_back(orphan);
  ASSERT_EQ(renew(claimed), Renewal::kept);
  EXPECT_THAT(orphan_ids(), IsEmpty());
  EXPECT_FALSE(reclaim(verdict));
  clock().set_back(std::chrono::hours{1});
  EXPECT_TRUE(reclaim(put_back(only_orphan())));
}

TEST_P(ServerClockContract, WorkerWhoseLeaseEndsTooLateForTheClockIsStale) {
  auto worker = enlist();
  clock().set_back(std::chrono::hours{1});
  auto seen = sight(workers(), worker);
  EXPECT_TRUE(seen.stale);
  EXPECT_TRUE(seen.ahead);
  EXPECT_THAT(seen.status.cause, HasSubstr("the clock was set back"));
  EXPECT_TRUE(workers().beat(worker, {}));
  EXPECT_FALSE(sight(workers(), worker).stale);
  EXPECT_FALSE(workers().bury(seen, report()));
  clock().set_back(std::chrono::hours{1});
  EXPECT_TRUE(workers().bury(sight(workers(), worker), report()));
}

}  // namespace holdfast::test
