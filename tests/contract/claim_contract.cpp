#include <gmock/gmock.h>

#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "contract/task_store_contract.hpp"

namespace holdfast::test {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_P(TaskStoreContract, ClaimsGoByPriorityThenAgeOverSeveralLanes) {
  struct Entry {
    const char* kind;
    const char* queue;
    int priority;
  };
  std::map<int, std::vector<TaskId>> by_priority;
  for (auto [kind, queue, priority] :
       {Entry{"a", "x", 3}, Entry{"b", "y", 5}, Entry{"c", "x", 1}, Entry{"b", "x", 3},
        Entry{"a", "y", 1}, Entry{"a", "x", 3}, Entry{"c", "y", 5}, Entry{"b", "x", 1}}) {
    by_priority[priority].push_back(insert(kind, {.queue = queue, .priority = priority}));
    clock().advance(Millis{1});
  }
  std::vector<TaskId> expected;
  for (const auto& [priority, ids] : by_priority)
    expected.insert(expected.end(), ids.begin(), ids.end());
  auto worker = enlist();
  auto got = claimed_ids(request(worker, 5));
  for (auto id : claimed_ids(request(worker, 5))) got.push_back(id);
  EXPECT_EQ(got, expected);
}

TEST_P(TaskStoreContract, TasksOfOneMomentAreClaimedInTheOrderOfInsertion) {
  std::vector<NewTask> many(50, NewTask{"a", "{}"});
  std::vector<TaskId> expected;
  for (const auto& each : tasks().insert(many)) expected.push_back(each.id);
  EXPECT_EQ(claimed_ids(request(enlist(), 50)), expected);
}

TEST_P(TaskStoreContract, ClockThatIsSetBackHidesNoTaskOfSeveralLanes) {
  std::set<TaskId> all;
  for (int i = 0; i < 6; ++i) {
    all.insert(insert(i % 2 == 0 ? "a" : "b"));
    clock().jump_wall(-seconds{7});
  }
  clock().jump_wall(seconds{60});
  auto worker = enlist();
  std::set<TaskId> got;
  for (int i = 0; i < 6; ++i)
    for (auto id : claimed_ids(request(worker, 1))) got.insert(id);
  EXPECT_EQ(got, all);
}

TEST_P(TaskStoreContract, AClaimSaysSinceWhenItsTaskWaited) {
  auto at_once = insert("a");
  auto important = insert("a", {.priority = 1});
  auto later = insert("a", {.delay = seconds{5}});
  clock().advance(seconds{20});
  Exchange exchange{.claim = request(enlist(), 3)};
  std::map<TaskId, WallTime> since;
  for (const auto& one : tasks().exchange(exchange).claimed) since[one.lease.id] = one.ready_at;
  EXPECT_EQ(since[at_once], record(at_once).created_at);
  EXPECT_EQ(since[important], record(important).created_at);
  EXPECT_EQ(since[later], record(later).run_at);
}

TEST_P(TaskStoreContract, ClaimTakesNoMoreThanAskedForAndNothingTwice) {
  for (int i = 0; i < 5; ++i) insert("a");
  auto worker = enlist();
  auto first = claimed_ids(request(worker, 3));
  auto second = claimed_ids(request(worker, 3));
  EXPECT_EQ(first.size(), 3u);
  EXPECT_EQ(second.size(), 2u);
  std::set<TaskId> all{first.begin(), first.end()};
  all.insert(second.begin(), second.end());
  EXPECT_EQ(all.size(), 5u);
  EXPECT_THAT(claimed_ids(request(worker, 3)), IsEmpty());
}

TEST_P(TaskStoreContract, ClaimedTaskShowsItsHolder) {
  auto worker = enlist();
  auto id = insert("a");
  auto claimed = claim_one(worker);
  auto task = record(id);
  EXPECT_EQ(task.state, TaskState::running);
  EXPECT_EQ(task.worker, worker);
  EXPECT_EQ(task.token, claimed.lease.token);
  EXPECT_EQ(task.attempt, 1);
  EXPECT_EQ(task.claimed_at, clock().wall());
}

TEST_P(TaskStoreContract, ClaimKeepsToItsKindsAndQueues) {
  auto a_mail = insert("a", {.queue = "mail"});
  auto b_mail = insert("b", {.queue = "mail"});
  auto a_print = insert("a", {.queue = "print"});
  auto worker = enlist();
  ClaimRequest only{.worker = worker, .queues = {"mail"}, .kinds = {"a"}, .limit = 10};
  EXPECT_THAT(claimed_ids(only), ElementsAre(a_mail));
  only.queues = {"print", "nowhere"};
  EXPECT_THAT(claimed_ids(only), ElementsAre(a_print));
  only.queues = {};
  only.kinds = {"unheard-of"};
  EXPECT_THAT(claimed_ids(only), IsEmpty());
  only.kinds = {"unheard-of", "b"};
  EXPECT_THAT(claimed_ids(only), ElementsAre(b_mail));
}

TEST_P(TaskStoreContract, KindThatAWorkerDoesNotKnowIsLeftForOthersUncharged) {
  auto unknown = insert("new", {.priority = 1, .max_attempts = 1});
  auto known = insert("a", {.priority = 5});
  auto old_version = enlist(), new_version = enlist();
  ClaimRequest knows_a{.worker = old_version, .kinds = {"a"}, .limit = 10};
  ClaimRequest knows_both{.worker = new_version, .kinds = {"a", "new"}, .limit = 10};
  EXPECT_THAT(claimed_ids(knows_a), ElementsAre(known));
  EXPECT_THAT(claimed_ids(knows_a), IsEmpty());
  auto task = record(unknown);
  EXPECT_EQ(task.state, TaskState::pending);
  EXPECT_EQ(task.attempt, 0);
  EXPECT_EQ(task.token, Token{});
  EXPECT_FALSE(task.claimed_at);
  EXPECT_FALSE(task.worker);

  // A worker of the new version gave it back; it still is not for the old one.
  auto claimed = tasks().exchange({.claim = knows_both}).claimed;
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].lease.id, unknown);
  EXPECT_EQ(claimed[0].attempt, 1);
  settle({.lease = claimed[0].lease, .to = TaskState::pending, .attempt = 0});
  EXPECT_THAT(claimed_ids(knows_a), IsEmpty());
  EXPECT_EQ(record(unknown).attempt, 0);
  EXPECT_THAT(claimed_ids(knows_both), ElementsAre(unknown));
}

TEST_P(TaskStoreContract, KindThatNobodyHandlesBlocksNobody) {
  std::vector<NewTask> strange(2'000, NewTask{"strange", "{}", {.priority = 1}});
  tasks().insert(strange);
  auto id = insert("a", {.priority = 5});
  EXPECT_THAT(claimed_ids(request(enlist(), 10)), ElementsAre(id));
}

TEST_P(TaskStoreContract, PausedQueueGivesNothingUntilResumed) {
  auto paused = insert("a", {.queue = "mail"});
  auto open = insert("a", {.queue = "print"});
  auto worker = enlist();
  other().admin().set_paused("mail", true, "operator");
  EXPECT_THAT(claimed_ids(request(worker, 10)), ElementsAre(open));
  EXPECT_FALSE(tasks().next_due(request(worker)));
  other().admin().set_paused("mail", false, "operator");
  EXPECT_THAT(claimed_ids(request(worker, 10)), ElementsAre(paused));
}

TEST_P(TaskStoreContract, BuriedWorkerGetsNothingAndIsTold) {
  auto worker = enlist();
  auto id = insert("a");
  die_and_be_buried(worker);
  auto answer = tasks().exchange(Exchange{.claim = request(worker, 10)});
  EXPECT_TRUE(answer.buried);
  EXPECT_THAT(answer.claimed, IsEmpty());
  EXPECT_EQ(state(id), TaskState::pending);
  EXPECT_FALSE(tasks().exchange(Exchange{.claim = request(enlist(), 10)}).buried);
}

TEST_P(TaskStoreContract, NoMoreSuspectsAreClaimedThanAskedFor) {
  std::set<TaskId> suspects;
  for (int i = 0; i < 3; ++i) suspects.insert(insert("a", {.priority = 1}));
  auto worker = enlist();
  for (auto id : suspects) make_suspect(id);
  auto plain = insert("b", {.priority = 5});

  auto none = request(worker, 10);
  none.max_suspects = 0;
  EXPECT_THAT(claimed_ids(none), ElementsAre(plain));
  auto one = request(worker, 10);
  one.max_suspects = 1;
  for (int round = 0; round < 3; ++round) {
    auto got = tasks().exchange(Exchange{.claim = one}).claimed;
    ASSERT_EQ(got.size(), 1u);
    EXPECT_TRUE(got[0].suspect);
    EXPECT_EQ(suspects.erase(got[0].lease.id), 1u);
  }
}

TEST_P(TaskStoreContract, ManySuspectsAheadDoNotHideWhatComesAfterThem) {
  for (int i = 0; i < 150; ++i) insert("a");
  auto worker = enlist();
  std::vector<Verdict> verdicts;
  for (const auto& each : claim(worker, 150))
    verdicts.push_back({.lease = each.lease, .suspect = true, .reason = "died", .cause = {}});
  die_and_be_buried(worker);
  tasks().reclaim(verdicts, report());
  auto plain = insert("a");
  auto none = request(enlist(), 2);
  none.max_suspects = 0;
  EXPECT_THAT(claimed_ids(none), ElementsAre(plain));
}

TEST_P(TaskStoreContract, NextDueIsTheEarliestThatTheClaimCouldTake) {
  auto worker = enlist();
  EXPECT_FALSE(tasks().next_due(request(worker)));
  insert("strange");
  EXPECT_FALSE(tasks().next_due(request(worker))) << "of another kind";
  insert("a", {.delay = seconds{60}});
  insert("b", {.priority = 5, .delay = seconds{20}});
  EXPECT_EQ(tasks().next_due(request(worker)), clock().wall() + seconds{20});
  insert("c");
  ASSERT_TRUE(tasks().next_due(request(worker)));
  EXPECT_LE(*tasks().next_due(request(worker)), clock().wall());
  claim_one(worker);
  EXPECT_EQ(tasks().next_due(request(worker)), clock().wall() + seconds{20});
}

TEST_P(TaskStoreContract, ManyThreadsOfTwoProcessesClaimEveryTaskOnce) {
  constexpr int count = 4'000, threads = 8;
  tasks().insert(std::vector<NewTask>(count, NewTask{"a", "{}"}));
  std::vector<WorkerId> enlisted;
  for (int i = 0; i < threads; ++i) enlisted.push_back(enlist());
  other();

  std::mutex mutex;
  std::map<TaskId, int> claims;
  std::atomic<int> not_accepted{0};
  auto work = [&](TaskStore& store, WorkerId worker) {
    Exchange exchange{.claim = request(worker, 7)};
    for (bool more = true; more;) {
      auto answer = store.exchange(exchange);
      for (auto settled : answer.settled) not_accepted += settled != Settled::accepted;
      exchange.settle.clear();
      for (const auto& each : answer.claimed)
        exchange.settle.push_back({.lease = each.lease, .attempt = each.attempt});
      more = !answer.claimed.empty();
      std::lock_guard lock{mutex};
      for (const auto& each : answer.claimed) ++claims[each.lease.id];
    }
  };
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i)
      running.emplace_back(work, std::ref(i % 2 ? tasks() : other().tasks()),
                           enlisted[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(claims.size(), static_cast<std::size_t>(count));
  for (const auto& [id, times] : claims) ASSERT_EQ(times, 1) << id.text();
  EXPECT_EQ(not_accepted, 0);
  EXPECT_EQ(engine().admin().count({.states = {TaskState::completed}}), count);
}

}  // namespace holdfast::test
