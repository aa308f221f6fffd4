#include "contract/leases_contract.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace holdfast::test {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LeasesContract);

Renewal LeasesContract::renew(const Claimed& claimed, Millis length) {
  return tasks().renew(std::span{&claimed.lease, 1}, length).at(0);
}

std::vector<TaskId> LeasesContract::orphan_ids(int limit) {
  std::vector<TaskId> ids;
  for (const auto& orphan : tasks().orphans(limit)) ids.push_back(orphan.lease.id);
  return ids;
}

Verdict LeasesContract::put_back(const Orphan& orphan) {
  return {.lease = orphan.lease,
          .expired = orphan.expired,
          .lease_until = orphan.lease_until,
          .attempt = orphan.attempt,
          .crashes = orphan.crashes,
          .reason = "its worker died",
          .cause = {}};
}

bool LeasesContract::reclaim(const Verdict& verdict) {
  return tasks().reclaim(std::span{&verdict, 1}, report()).at(0);
}

Orphan LeasesContract::only_orphan() {
  auto orphans = tasks().orphans(100);
  if (orphans.size() != 1) throw std::runtime_error{"expected exactly one orphan"};
  return orphans.front();
}

TEST_P(LeasesContract, RenewedLeaseLastsFromTheRenewalOn) {
  auto worker = enlist();
  auto id = insert("a");
  auto claimed = claim_one(worker);
  clock().advance(seconds{80});
  EXPECT_EQ(renew(claimed), Renewal::kept);
  clock().advance(seconds{80});
  EXPECT_THAT(orphan_ids(), IsEmpty());
  clock().advance(seconds{11});
  EXPECT_THAT(orphan_ids(), ElementsAre(id));
}

TEST_P(LeasesContract, RenewalForAShorterTimeIsWhatCounts) {
  auto worker = enlist();
  auto id = insert("a");
  auto claimed = claim_one(worker);
  EXPECT_EQ(renew(claimed, seconds{10}), Renewal::kept);
  clock().advance(seconds{9});
  EXPECT_THAT(orphan_ids(), IsEmpty());
  clock().advance(seconds{2});
  EXPECT_THAT(orphan_ids(), ElementsAre(id));
}

TEST_P(LeasesContract, RenewAnswersForEachLeaseInOrder) {
  auto worker = enlist();
  for (int i = 0; i < 3; ++i) insert("a");
  auto claimed = claim(worker, 3);
  ASSERT_EQ(claimed.size(), 3u);
  EXPECT_EQ(complete(claimed[1]), Settled::accepted);
  std::vector<Lease> leases{claimed[2].lease,
                            claimed[1].lease,
                            {TaskId::make(), Token{1}},
                            {claimed[0].lease.id, Token{claimed[0].lease.token.value - 1}},
                            claimed[0].lease};
  EXPECT_THAT(
      tasks().renew(leases, seconds{90}),
      ElementsAre(Renewal::kept, Renewal::lost, Renewal::lost, Renewal::lost, Renewal::kept));
}

TEST_P(LeasesContract, RenewTellsThatSomebodyWantsItToStopAndStillExtends) {
  auto worker = enlist();
  auto id = insert("a");
  auto claimed = claim_one(worker);
  EXPECT_EQ(renew(claimed), Renewal::kept);
  ask_to_stop(id);
  clock().advance(seconds{80});
  EXPECT_EQ(renew(claimed), Renewal::cancelled);
  clock().advance(seconds{80});
  EXPECT_THAT(orphan_ids(), IsEmpty());
}

TEST_P(LeasesContract, LeasePastItsTimeMayBeRenewedWhileNobodyTookIt) {
  auto worker = enlist();
  insert("a");
  auto claimed = claim_one(worker);
  clock().advance(seconds{200});
  ASSERT_EQ(orphan_ids().size(), 1u);
  EXPECT_EQ(renew(claimed), Renewal::kept);
  EXPECT_THAT(orphan_ids(), IsEmpty());
  EXPECT_EQ(complete(claimed), Settled::accepted);
}

TEST_P(LeasesContract, WorkOfALivingWorkerIsNoOrphan) {
  insert("a");
  insert("b");
  auto worker = enlist();
  claim_one(worker);
  EXPECT_THAT(orphan_ids(), IsEmpty());
}

TEST_P(LeasesContract, WorkOfABuriedWorkerIsAnOrphanAtOnce) {
  auto worker = enlist();
  auto id = insert("a", {.max_attempts = 7, .backoff = {.first = Millis{77}}});
  auto claimed = claim_one(worker);
  die(worker);
  EXPECT_THAT(orphan_ids(), IsEmpty()) << "dead is who was declared dead";
  die_and_be_buried(worker);
  auto orphan = only_orphan();
  EXPECT_EQ(orphan.lease, claimed.lease);
  EXPECT_EQ(orphan.lease.id, id);
  EXPECT_EQ(orphan.worker, worker);
  EXPECT_FALSE(orphan.expired);
  EXPECT_EQ(orphan.attempt, 1);
  EXPECT_EQ(orphan.max_attempts, 7);
  EXPECT_EQ(orphan.crashes, 0);
  EXPECT_EQ(orphan.recoveries, 0);
  EXPECT_FALSE(orphan.cancel_requested);
  EXPECT_EQ(orphan.backoff.first, Millis{77});
}

TEST_P(LeasesContract, ExpiredOrphanSaysThatOnlyItsAgeIsKnown) {
  auto worker = enlist();
  auto id = insert("a");
  claim_one(worker);
  ask_to_stop(id);
  clock().advance(seconds{91});
  auto orphan = only_orphan();
  EXPECT_TRUE(orphan.expired);
  EXPECT_EQ(orphan.worker, worker);
  EXPECT_TRUE(orphan.cancel_requested);
}

TEST_P(LeasesContract, NoMoreOrphansComeThanAskedFor) {
  auto worker = enlist();
  for (int i = 0; i < 5; ++i) insert("a");
  for (int i = 0; i < 5; ++i) claim_one(worker);
  clock().advance(seconds{91});
  EXPECT_EQ(orphan_ids().size(), 5u);
  EXPECT_EQ(orphan_ids(2).size(), 2u);
}

TEST_P(LeasesContract, ReclaimRaisesTheTokenSoTheOldHolderIsRefused) {
  auto worker = enlist();
  auto id = insert("a");
  auto claimed = claim_one(worker);
  clock().advance(seconds{91});
  ASSERT_TRUE(reclaim(put_back(only_orphan())));
  auto back = record(id);
  EXPECT_EQ(back.state, TaskState::pending);
  EXPECT_GT(back.token, claimed.lease.token);
  EXPECT_EQ(back.recoveries, 1);
  EXPECT_EQ(renew(claimed), Renewal::lost);
  EXPECT_EQ(complete(claimed), Settled::refused);
  EXPECT_EQ(state(id), TaskState::pending);
  auto again = claim_one(enlist());
  EXPECT_EQ(again.lease.id, id);
  EXPECT_GT(again.lease.token, back.token);
}

TEST_P(LeasesContract, ReclaimIsIdempotent) {
  auto worker = enlist();
  auto id = insert("a");
  claim_one(worker);
  die_and_be_buried(worker);
  auto verdict = put_back(only_orphan());
  ASSERT_TRUE(reclaim(verdict));
  auto once = record(id);
  EXPECT_FALSE(reclaim(verdict));
  EXPECT_EQ(record(id).token, once.token);
  EXPECT_EQ(record(id).recoveries, 1);
  EXPECT_EQ(engine().admin().recorded_history(id).size(), 1u);
  EXPECT_THAT(orphan_ids(), IsEmpty());
}

TEST_P(LeasesContract, ReclaimNeverTouchesALeaseThatWasRenewedAfterTheScan) {
  auto worker = enlist();
  auto id = insert("a");
  auto claimed = claim_one(worker);
  clock().advance(seconds{91});
  auto verdict = put_back(only_orphan());
  ASSERT_EQ(renew(claimed), Renewal::kept);
  EXPECT_FALSE(reclaim(verdict));
  EXPECT_EQ(state(id), TaskState::running);
  EXPECT_EQ(record(id).token, claimed.lease.token);
  EXPECT_EQ(complete(claimed), Settled::accepted);
}

TEST_P(LeasesContract, ReclaimNeedsTheLeaseThatWasSeenEvenIfALaterOneRanOutToo) {
  auto worker = enlist();
  auto id = insert("a");
  auto claimed = claim_one(worker);
  clock().advance(seconds{91});
  auto verdict = put_back(only_orphan());
  ASSERT_EQ(renew(claimed, seconds{10}), Renewal::kept);
  clock().advance(seconds{11});
  EXPECT_FALSE(reclaim(verdict)) << "it was renewed since";
  EXPECT_EQ(state(id), TaskState::running);
  EXPECT_TRUE(reclaim(put_back(only_orphan())));
}

TEST_P(LeasesContract, ReclaimNeedsABuriedWorkerOrALeasePastItsTime) {
  auto worker = enlist();
  auto id = insert("a");
  auto claimed = claim_one(worker);
  Verdict verdict{.lease = claimed.lease, .expired = false, .reason = "a mistake", .cause = {}};
  EXPECT_FALSE(reclaim(verdict));
  EXPECT_EQ(state(id), TaskState::running);
  // Past its time is not what the verdict said.
  clock().advance(seconds{91});
  verdict.lease_until = only_orphan().lease_until;
  EXPECT_FALSE(reclaim(verdict));
  EXPECT_EQ(state(id), TaskState::running);
  die_and_be_buried(worker);
  EXPECT_TRUE(reclaim(verdict));
}

TEST_P(LeasesContract, ReclaimComparesTheToken) {
  auto worker = enlist();
  auto id = insert("a");
  claim_one(worker);
  die_and_be_buried(worker);
  auto old = put_back(only_orphan());
  ASSERT_TRUE(reclaim(old));
  auto second = enlist();
  auto claimed = claim_one(second);
  die_and_be_buried(second);
  EXPECT_FALSE(reclaim(old)) << "a slow recoverer must not take the task from a later owner";
  EXPECT_EQ(record(id).token, claimed.lease.token);
}

TEST_P(LeasesContract, ReclaimAnswersForEachVerdictInOrder) {
  auto worker = enlist();
  for (int i = 0; i < 3; ++i) insert("a");
  auto claimed = claim(worker, 3);
  ASSERT_EQ(claimed.size(), 3u);
  ASSERT_EQ(complete(claimed[0]), Settled::accepted);
  die_and_be_buried(worker);
  std::vector<Verdict> verdicts;
  for (const auto& each : claimed)
    verdicts.push_back({.lease = each.lease, .reason = "died", .cause = {}});
  verdicts[1].lease.token.value -= 1;
  EXPECT_THAT(tasks().reclaim(verdicts, report()), ElementsAre(false, false, true));
  EXPECT_EQ(state(claimed[0].lease.id), TaskState::completed);
  EXPECT_EQ(state(claimed[1].lease.id), TaskState::running);
  EXPECT_EQ(state(claimed[2].lease.id), TaskState::pending);
}

}  // namespace holdfast::test
