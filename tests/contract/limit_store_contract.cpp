#include "contract/limit_store_contract.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <barrier>
#include <map>
#include <stdexcept>
#include <thread>

namespace holdfast::test {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

LimitStatus LimitStoreContract::status(LimitScope scope, const std::string& name) {
  for (const auto& each : engine().limits().list())
    if (each.limit.scope == scope && each.limit.name == name) return each;
  throw std::runtime_error{"no such limit: " + name};
}

TEST_P(LimitStoreContract, WhatIsSetComesBackAlsoAfterARestart) {
  Limit both{.scope = LimitScope::key, .name = "acme", .max_running = 5, .rate = Rate{10, 1min, 3}};
  Limit none{.scope = LimitScope::queue, .name = "*", .max_running = 0};
  set(both);
  set(none);
  reopen();
  auto found = engine().limits().list();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].limit, none) << "by scope and name";
  EXPECT_EQ(found[1].limit, both);
  both.rate = {};
  set(both);
  EXPECT_EQ(status(LimitScope::key, "acme").limit, both) << "in place of the one before";
  EXPECT_TRUE(engine().limits().remove(LimitScope::key, "acme"));
  EXPECT_FALSE(engine().limits().remove(LimitScope::key, "acme"));
  EXPECT_THAT(engine().limits().list(), SizeIs(1));
}

TEST_P(LimitStoreContract, NoMoreRunAtOnceThanAQueueAKindOrAKeyMay) {
  auto worker = enlist();
  insert_many("a", 10, {.queue = "mail", .limit_key = "acme"});
  most(LimitScope::queue, "mail", 5);
  EXPECT_EQ(claims(worker), 5u);
  EXPECT_EQ(claims(worker), 0u);
  most(LimitScope::queue, "mail", 6);
  EXPECT_EQ(claims(worker), 1u);
  most(LimitScope::kind, "a", 6);
  most(LimitScope::queue, "mail", 100);
  EXPECT_EQ(claims(worker), 0u);
  most(LimitScope::kind, "a", 8);
  most(LimitScope::key, "acme", 7);
  EXPECT_EQ(claims(worker), 1u) << "every limit counts";
  engine().limits().remove(LimitScope::key, "acme");
  EXPECT_EQ(claims(worker), 1u);
  engine().limits().remove(LimitScope::kind, "a");
  EXPECT_EQ(claims(worker), 2u);
}

TEST_P(LimitStoreContract, AStarGivesEachKeyTheSameShare) {
  auto worker = enlist();
  most(LimitScope::key, "*", 2);
  most(LimitScope::key, "large", 4);
  for (auto key : {"one", "two", "large", ""}) insert_many("a", 10, {.limit_key = key});
  std::map<std::string, int> got;
  for (const auto& each : claim(worker, 100)) ++got[record(each.lease.id).limit_key];
  EXPECT_EQ(got, (std::map<std::string, int>{{"", 10}, {"one", 2}, {"two", 2}, {"large", 4}}));
}

TEST_P(LimitStoreContract, WhatIsHeldBackHidesNothingBehindIt) {
  auto worker = enlist();
  most(LimitScope::key, "greedy", 1);
  insert_many("a", 5'000, {.priority = 1, .limit_key = "greedy"});
  insert_many("b", 5'000, {.limit_key = "greedy"});
  clock().advance(1s);
  auto other_key = insert("a", {.priority = 1, .limit_key = "modest"});
  auto no_key = insert("b");
  auto first = claim(worker, 3);
  ASSERT_THAT(first, SizeIs(3));
  EXPECT_EQ(first[1].lease.id, other_key);
  EXPECT_EQ(first[2].lease.id, no_key);
}

TEST_P(LimitStoreContract, HoweverATaskEndsItsPlaceIsFree) {
  auto worker = enlist();
  most(LimitScope::kind, "a", 1);
  insert_many("a", 6);
  complete(claim_one(worker));
  auto failing = claim_one(worker);
  settle({.lease = failing.lease, .to = TaskState::failed, .reason = "broke", .attempt = 1});
  auto back = claim_one(worker);
  settle({.lease = back.lease, .to = TaskState::pending, .was_attempt = false});
  auto cancelled = claim_one(worker);
  TaskAdmin::Move move{.from = {TaskState::running}, .actor = "operator", .reason = "by force"};
  other().admin().move(TaskFilter{.ids = {cancelled.lease.id}}, move);
  auto orphan = claim_one(worker);
  EXPECT_EQ(claims(worker), 0u);
  die_and_be_buried(worker);
  auto heir = enlist();
  EXPECT_EQ(claims(heir), 0u) << "nobody has taken it back yet";
  tasks().reclaim(std::vector<Verdict>{{.lease = orphan.lease, .reason = "died", .cause = {}}},
                  report());
  EXPECT_EQ(claims(heir), 1u);
}

TEST_P(LimitStoreContract, StaleSettlementsFreeNothing) {
  auto worker = enlist();
  most(LimitScope::kind, "a", 1);
  insert_many("a", 2);
  auto held = claim_one(worker);
  auto stale = held;
  stale.lease.token.value -= 1;
  EXPECT_EQ(complete(stale), Settled::refused);
  EXPECT_EQ(claims(worker), 0u);
  EXPECT_EQ(complete(held), Settled::accepted);
  EXPECT_EQ(complete(held), Settled::repeated);
  EXPECT_EQ(claims(worker), 1u);
}

TEST_P(LimitStoreContract, ARateIsABucketThatFillsUpAgain) {
  auto worker = enlist();
  set({.scope = LimitScope::key, .name = "acme", .max_running = {}, .rate = Rate{2, 1s, 3}});
  insert_many("a", 20, {.limit_key = "acme"});
  EXPECT_EQ(claims(worker), 3u) << "the burst";
  EXPECT_EQ(status(LimitScope::key, "acme").uses.at(0).tokens, 0);
  EXPECT_EQ(claims(worker), 0u);
  EXPECT_EQ(tasks().next_due(request(worker)), clock().wall() + 500ms);
  clock().advance(500ms);
  EXPECT_EQ(claims(worker), 1u);
  clock().advance(499ms);
  EXPECT_EQ(claims(worker), 0u);
  clock().advance(1ms);
  EXPECT_EQ(claims(worker), 1u);
  reopen();
  worker = enlist();
  EXPECT_EQ(claims(worker), 0u) << "a restart does not fill it";
  clock().advance(1h);
  EXPECT_EQ(claims(worker), 3u);
}

TEST_P(LimitStoreContract, AClockThatIsSetBackStopsNoRate) {
  auto worker = enlist();
  set({.scope = LimitScope::kind, .name = "a", .max_running = {}, .rate = Rate{1, 1s}});
  insert_many("a", 5);
  EXPECT_EQ(claims(worker), 1u);
  clock().jump_wall(-1h);
  EXPECT_EQ(claims(worker), 0u);
  clock().advance(1s);
  EXPECT_EQ(claims(worker), 1u);
}

TEST_P(LimitStoreContract, TheSameRateAgainKeepsTheBucketAndAnotherBeginsAnew) {
  auto worker = enlist();
  Limit limit{.scope = LimitScope::kind, .name = "a", .max_running = {}, .rate = Rate{5, 1h}};
  set(limit);
  insert_many("a", 20);
  EXPECT_EQ(claims(worker), 5u);
  limit.max_running = 100;
  set(limit);
  EXPECT_EQ(claims(worker), 0u);
  limit.rate = Rate{6, 1h};
  set(limit);
  EXPECT_EQ(claims(worker), 6u);
}

TEST_P(LimitStoreContract, NextDueKnowsWhatIsHeldBack) {
  auto worker = enlist();
  most(LimitScope::kind, "a", 1);
  most(LimitScope::kind, "b", 0);
  insert_many("a", 2);
  insert("b");
  claim_one(worker);
  auto due = tasks().next_due(request(worker));
  ASSERT_TRUE(due) << "it runs when another has ended";
  EXPECT_GT(*due, clock().wall());
  auto only_b = request(worker);
  only_b.kinds = {"b"};
  EXPECT_FALSE(tasks().next_due(only_b)) << "it cannot run at all";
  EXPECT_EQ(claims(worker), 0u);
}

TEST_P(LimitStoreContract, RoomIsAnnounced) {
  auto worker = enlist();
  most(LimitScope::kind, "a", 1);
  insert_many("a", 2);
  auto held = claim_one(worker);
  auto& elsewhere = other().tasks();
  elsewhere.wait_for_work(Millis{0});
  complete(held);
  EXPECT_EQ(elsewhere.wait_for_work(30s), Wake::work);
  most(LimitScope::kind, "a", 2);
  EXPECT_EQ(elsewhere.wait_for_work(30s), Wake::work) << "and so is a change of the limit";
}

TEST_P(LimitStoreContract, UsesAreShown) {
  auto worker = enlist();
  most(LimitScope::key, "*", 3);
  insert_many("a", 2, {.limit_key = "acme"});
  insert_many("a", 9, {.limit_key = "bolt"});
  claims(worker);
  auto uses = status(LimitScope::key, "*").uses;
  ASSERT_THAT(uses, SizeIs(2));
  EXPECT_EQ(uses[0].name, "acme");
  EXPECT_EQ(uses[0].running, 2);
  EXPECT_EQ(uses[1].name, "bolt");
  EXPECT_EQ(uses[1].running, 3);
  EXPECT_EQ(uses[1].tokens, std::nullopt);
}

TEST_P(LimitStoreContract, ManyProcessesTogetherNeverExceedALimit) {
  constexpr int rounds = 30, threads = 6, most_at_once = 7, count = rounds * most_at_once;
  most(LimitScope::key, "acme", most_at_once);
  insert_many("a", count / 2, {.queue = "one", .limit_key = "acme"});
  insert_many("b", count / 2, {.queue = "two", .limit_key = "acme"});
  std::vector<std::shared_ptr<EngineParts>> processes;
  std::vector<WorkerId> enlisted;
  for (int i = 0; i < threads; ++i) {
    if (i % 2 == 0) processes.push_back(open_with({}));
    enlisted.push_back(enlist());
  }
  // Everybody claims at the same time, and nobody lets go before all have been answered.
  std::atomic<int> running{0};
  std::vector<int> seen;
  std::barrier claimed_by_all{threads, [&]() noexcept { seen.push_back(running.exchange(0)); }};
  std::barrier ended_by_all{threads};
  auto work = [&](TaskStore& store, WorkerId worker) {
    for (int round = 0; round < rounds; ++round) {
      Exchange claims{.claim = request(worker, 5)};
      auto claimed = store.exchange(claims).claimed;
      running += static_cast<int>(claimed.size());
      claimed_by_all.arrive_and_wait();
      Exchange ends;
      for (const auto& each : claimed)
        ends.settle.push_back({.lease = each.lease, .attempt = each.attempt});
      store.exchange(ends);
      ended_by_all.arrive_and_wait();
    }
  };
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < threads; ++i)
      workers.emplace_back(work, std::ref(processes[i / 2]->tasks()), enlisted[i]);
  }
  EXPECT_THAT(seen, testing::Each(most_at_once));
  EXPECT_EQ(engine().admin().count({.states = {TaskState::completed}}), count);
}

}  // namespace holdfast::test
