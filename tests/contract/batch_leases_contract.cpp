#include <gmock/gmock.h>

#include "contract/batch_store_contract.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_P(BatchStoreContract, TheUnitsOfTheDeadAreOrphans) {
  auto id = submit(batch(2));
  auto worker = enlist();
  auto claimed = claim_units(worker, 1);
  EXPECT_THAT(batches().orphans(10), IsEmpty());
  auto presumed = batches().orphans(10, std::span{&worker, 1});
  ASSERT_THAT(presumed, SizeIs(1));
  EXPECT_EQ(presumed[0].lease, claimed[0].lease);
  die_and_be_buried(worker);
  EXPECT_FALSE(workers().clear(worker)) << "it still holds a row";
  auto orphans = batches().orphans(10);
  ASSERT_THAT(orphans, SizeIs(1));
  EXPECT_EQ(orphans[0].worker, worker);
  EXPECT_FALSE(orphans[0].expired);
  EXPECT_EQ(orphans[0].attempt, 1);
  EXPECT_EQ(orphans[0].kind, "shop/price");
  auto verdict = run_again(orphans[0].lease);
  verdict.reason = "It died.";
  EXPECT_TRUE(reclaim(verdict));
  EXPECT_FALSE(reclaim(verdict)) << "only once";
  EXPECT_TRUE(workers().clear(worker));
  EXPECT_EQ(found(id).rows[BatchStatus::queued], 2);
  RecoveryReport rest;
  auto stored = engine().reports().complete(report(), rest);
  ASSERT_THAT(stored.tasks, SizeIs(1));
  EXPECT_THAT(stored.tasks[0].reason, HasSubstr("Line 1 of batch " + id.text()));
}

TEST_P(BatchStoreContract, ASummaryIsTakenBackFromTheDeadToo) {
  auto id = submit(batch(1));
  auto worker = enlist();
  do_all_rows(worker);
  auto before = claim_units(worker).at(0);
  die_and_be_buried(worker);
  auto orphans = batches().orphans(10);
  ASSERT_THAT(orphans, SizeIs(1));
  EXPECT_EQ(orphans[0].lease, before.lease);
  EXPECT_TRUE(reclaim(run_again(before.lease)));
  auto after = claim_units(enlist()).at(0);
  EXPECT_EQ(end(summary(before, 1)), Settled::refused);
  EXPECT_EQ(end(summary(after, 1)), Settled::accepted);
  EXPECT_EQ(found(id).status, BatchStatus::success);
}

TEST_P(BatchStoreContract, ALeaseThatRanOutMayBeTakenAndOneThatWasRenewedMayNot) {
  submit(batch(1));
  auto worker = enlist(10min);
  auto claimed = claim_units(worker).at(0);  // for 90 s
  clock().advance(80s);
  EXPECT_EQ(batches().renew(std::span{&claimed.lease, 1}, 90s)[0], Renewal::kept);
  clock().advance(80s);
  EXPECT_THAT(batches().orphans(10), IsEmpty());
  auto verdict = run_again(claimed.lease);
  verdict.expired = true;
  EXPECT_FALSE(reclaim(verdict));
  clock().advance(20s);
  ASSERT_THAT(batches().orphans(10), SizeIs(1));
  EXPECT_TRUE(batches().orphans(10)[0].expired);
  EXPECT_FALSE(reclaim(verdict)) << "who decided had not seen this lease";
  verdict.lease_until = batches().orphans(10)[0].lease_until;
  EXPECT_TRUE(reclaim(verdict));
  EXPECT_EQ(batches().renew(std::span{&claimed.lease, 1}, 90s)[0], Renewal::lost);
}

TEST_P(BatchStoreContract, ARowThatRecoveryGivesUpFailsWithTheReason) {
  auto id = submit(batch(1));
  auto worker = enlist();
  auto claimed = claim_units(worker).at(0);
  die_and_be_buried(worker);
  auto verdict = run_again(claimed.lease);
  verdict.to = TaskState::failed;
  verdict.reason = "It ended three workers.";
  ASSERT_TRUE(reclaim(verdict));
  auto row = rows_of(id)[0];
  EXPECT_EQ(row.status, BatchStatus::failed);
  EXPECT_THAT(row.messages, HasSubstr("It ended three workers."));
  EXPECT_FALSE(row_of(claim_units(enlist()).at(0).lease.id)) << "what is left is the summary";
}

TEST_P(BatchStoreContract, SuspectsAreClaimedBySuchAsAskForThem) {
  submit(batch(2));
  auto worker = enlist();
  auto claimed = claim_units(worker, 1).at(0);
  die_and_be_buried(worker);
  auto verdict = run_again(claimed.lease);
  verdict.suspect = true;
  ASSERT_TRUE(reclaim(verdict));
  auto none = units(enlist());
  none.max_suspects = 0;
  auto plain = batches().exchange({}, none).claimed;
  ASSERT_THAT(plain, SizeIs(1));
  EXPECT_FALSE(plain[0].suspect);
  auto suspects = claim_units(enlist());
  ASSERT_THAT(suspects, SizeIs(1));
  EXPECT_TRUE(suspects[0].suspect);
  EXPECT_EQ(suspects[0].lease.id, claimed.lease.id);
}

}  // namespace holdfast::test
