#include <gmock/gmock.h>

#include <thread>

#include "contract/leases_contract.hpp"

namespace holdfast::test {

using std::chrono::seconds;

TEST_P(LeasesContract, VerdictPendingWaitsForItsDelayAndKeepsTheCounters) {
  auto worker = enlist();
  auto id = insert("a");
  claim_one(worker);
  die_and_be_buried(worker);
  auto verdict = put_back(only_orphan());
  verdict.attempt = 0;
  verdict.crashes = 2;
  verdict.suspect = true;
  verdict.delay = seconds{5};
  ASSERT_TRUE(reclaim(verdict));

  auto back = record(id);
  EXPECT_EQ(back.attempt, 0);
  EXPECT_EQ(back.crashes, 2);
  EXPECT_TRUE(back.suspect);
  EXPECT_EQ(back.recoveries, 1);
  auto next = enlist();
  EXPECT_TRUE(claim(next).empty());
  clock().advance(seconds{5});
  auto again = claim_one(next);
  EXPECT_EQ(again.attempt, 1);
  EXPECT_TRUE(again.suspect);
}

TEST_P(LeasesContract, SuspicionEndsWithAVerdictThatSaysSo) {
  auto worker = enlist();
  auto id = insert("a");
  claim_one(worker);
  die_and_be_buried(worker);
  auto verdict = put_back(only_orphan());
  verdict.suspect = true;
  ASSERT_TRUE(reclaim(verdict));
  auto next = enlist();
  claim_one(next);
  die_and_be_buried(next);
  ASSERT_TRUE(reclaim(put_back(only_orphan())));
  EXPECT_FALSE(record(id).suspect);
  EXPECT_EQ(record(id).recoveries, 2);
}

TEST_P(LeasesContract, VerdictFailedMakesADeadLetterAndFreesTheUniqueKey) {
  auto worker = enlist();
  auto id = insert("a", {.unique_key = "only"});
  claim_one(worker);
  die_and_be_buried(worker);
  auto verdict = put_back(only_orphan());
  verdict.to = TaskState::failed;
  verdict.reason = "over the limit";
  ASSERT_TRUE(reclaim(verdict));
  EXPECT_EQ(state(id), TaskState::failed);
  EXPECT_EQ(record(id).finished_at, clock().wall());
  EXPECT_NE(insert("a", {.unique_key = "only"}), id);
}

TEST_P(LeasesContract, VerdictHeldKeepsTheCause) {
  auto worker = enlist();
  auto id = insert("a");
  claim_one(worker);
  die_and_be_buried(worker);
  auto verdict = put_back(only_orphan());
  verdict.to = TaskState::held;
  verdict.cause = "killed its worker three times";
  ASSERT_TRUE(reclaim(verdict));
  EXPECT_EQ(state(id), TaskState::held);
  EXPECT_EQ(record(id).cause, "killed its worker three times");
  EXPECT_TRUE(claim(enlist()).empty());
}

TEST_P(LeasesContract, VerdictCancelledCancelsWhatWaitsForIt) {
  auto worker = enlist();
  auto id = insert("a");
  auto dependent = insert("b", {.after = {id}});
  claim_one(worker);
  die_and_be_buried(worker);
  auto verdict = put_back(only_orphan());
  verdict.to = TaskState::cancelled;
  ASSERT_TRUE(reclaim(verdict));
  EXPECT_EQ(state(id), TaskState::cancelled);
  EXPECT_EQ(state(dependent), TaskState::cancelled);
}

TEST_P(LeasesContract, ReclaimIsRecordedAsTheActOfRecovery) {
  auto worker = enlist();
  auto id = insert("a");
  auto claimed = claim_one(worker);
  die_and_be_buried(worker);
  clock().advance(seconds{1});
  ASSERT_TRUE(reclaim(put_back(only_orphan())));
  auto history = engine().admin().recorded_history(id);
  ASSERT_EQ(history.size(), 1u);
  const auto& step = history[0].transition;
  EXPECT_EQ(step.from, TaskState::running);
  EXPECT_EQ(step.to, TaskState::pending);
  EXPECT_EQ(step.actor, "system/recovery");
  EXPECT_EQ(step.reason, "its worker died");
  EXPECT_EQ(step.at, clock().wall());
  EXPECT_EQ(history[0].worker, worker);
  EXPECT_EQ(history[0].claimed_at, clock().wall() - seconds{1});
  EXPECT_GE(step.token, claimed.lease.token);
}

TEST_P(LeasesContract, OfManyRecoverersExactlyOneTakesEachOrphan) {
  constexpr int count = 200;
  auto worker = enlist();
  for (int i = 0; i < count; ++i) insert("a");
  ASSERT_EQ(claim(worker, count).size(), static_cast<std::size_t>(count));
  die_and_be_buried(worker);
  other();

  std::atomic<int> taken{0};
  {
    std::vector<std::jthread> recoverers;
    for (int i = 0; i < 4; ++i)
      recoverers.emplace_back([&, &store = i % 2 ? tasks() : other().tasks()] {
        for (const auto& orphan : store.orphans(count)) {
          auto verdict = put_back(orphan);
          taken += store.reclaim(std::span{&verdict, 1}, report())[0];
        }
      });
  }
  EXPECT_EQ(taken, count);
  EXPECT_TRUE(orphan_ids().empty());
  for (const auto& task : engine().admin().search({}, {.limit = count}))
    ASSERT_EQ(task.recoveries, 1);
}

TEST_P(LeasesContract, TokensGrowWithEveryChangeOfOwnerAndAcrossARestart) {
  auto id = insert("a");
  Token last{};
  for (int round = 0; round < 5; ++round) {
    auto worker = enlist();
    auto claimed = claim_one(worker);
    EXPECT_GT(claimed.lease.token, last);
    die_and_be_buried(worker);
    clock().jump_wall(-std::chrono::hours{1});  // a clock set back must not bring old tokens back
    ASSERT_TRUE(reclaim(put_back(only_orphan())));
    EXPECT_GT(record(id).token, claimed.lease.token);
    last = record(id).token;
    if (round == 2) reopen();
  }
}

}  // namespace holdfast::test
