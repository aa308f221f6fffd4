#include <gmock/gmock.h>

#include <barrier>
#include <functional>
#include <thread>

#include "contract/leases_contract.hpp"
#include "contract/task_admin_contract.hpp"
#include "contract/task_store_contract.hpp"

/// Two processes that change the same task at the same time. Which of them is first is left to
/// chance; what is promised holds either way.
namespace holdfast::test {

namespace {

constexpr int rounds = 50;

void at_the_same_time(const std::function<void()>& one, const std::function<void()>& other) {
  std::barrier together{2};
  const std::jthread elsewhere{[&] {
    together.arrive_and_wait();
    other();
  }};
  together.arrive_and_wait();
  one();
}

}  // namespace

TEST_P(TaskStoreContract, NoWishToStopIsLostToASettlementAtTheSameTime) {
  const auto worker = enlist();
  other();
  for (int i = 0; i < rounds; ++i) {
    const auto to = i % 2 == 0 ? TaskState::pending : TaskState::held;
    const auto id = insert("a");
    const auto claimed = claim_one(worker);
    const TaskAdmin::Move cancel{.from = {TaskState::pending, TaskState::running, TaskState::held},
                                 .ask_running = true,
                                 .actor = "operator",
                                 .reason = "no longer wanted"};
    const Settlement end{.lease = claimed.lease,
                         .to = to,
                         .reason = "later",
                         .attempt = 1,
                         .delay = Millis{3'600'000}};
    at_the_same_time([&] { EXPECT_EQ(settle(end), Settled::accepted); },
                     [&] { other().admin().move(TaskFilter{.ids = {id}}, cancel); });
    ASSERT_EQ(state(id), TaskState::cancelled) << i;
  }
}

TEST_P(TaskStoreContract, WhoWaitsForTwoThatEndAtTheSameTimeRuns) {
  const auto worker = enlist();
  other();
  for (int i = 0; i < rounds; ++i) {
    const auto first = insert("a"), second = insert("a");
    const auto last = insert("b", {.after = {first, second}});
    const auto claimed = claim(worker, 2);
    ASSERT_EQ(claimed.size(), 2u);
    std::vector<TaskChanged> told, told_elsewhere;
    const auto end = [](EngineParts& by, const Claimed& one) {
      return by.tasks().exchange({.settle = {{.lease = one.lease, .attempt = 1}}}).also;
    };
    at_the_same_time([&] { told = end(engine(), claimed[0]); },
                     [&] { told_elsewhere = end(other(), claimed[1]); });
    ASSERT_EQ(state(last), TaskState::pending) << i;
    ASSERT_EQ(told.size() + told_elsewhere.size(), 1u) << "one of them tells";
    cancel(last);
  }
}

TEST_P(LeasesContract, AnEndAndATakeoverAtTheSameTimeAreOneOfThem) {
  other();
  const auto worker = enlist();
  for (int i = 0; i < rounds; ++i) insert("a");
  claim(worker, rounds);
  die_and_be_buried(worker);
  auto to = TaskState::completed;
  for (const auto& orphan : tasks().orphans(rounds)) {
    auto verdict = put_back(orphan);
    verdict.to = TaskState::held;
    to = to == TaskState::completed ? TaskState::failed : TaskState::completed;
    auto settled = Settled::refused;
    bool taken = false;
    at_the_same_time([&] { settled = settle({.lease = orphan.lease, .to = to, .attempt = 1}); },
                     [&] {
                       taken = other().tasks().reclaim(std::span{&verdict, 1}, report())[0];
                     });
    ASSERT_NE(settled == Settled::accepted, taken);
    const auto now = record(orphan.lease.id);
    ASSERT_EQ(now.state, taken ? TaskState::held : to);
    ASSERT_EQ(now.recoveries, taken ? 1 : 0);
  }
}

TEST_P(LeasesContract, OfTwoTakeoversAtTheSameTimeOneIsDone) {
  other();
  const auto worker = enlist();
  for (int i = 0; i < rounds; ++i) insert("a");
  claim(worker, rounds);
  die_and_be_buried(worker);
  for (const auto& orphan : tasks().orphans(rounds)) {
    const auto verdict = put_back(orphan);
    int taken = 0, taken_elsewhere = 0;
    at_the_same_time(
        [&] { taken = reclaim(verdict) ? 1 : 0; },
        [&] {
          taken_elsewhere = other().tasks().reclaim(std::span{&verdict, 1}, report())[0] ? 1 : 0;
        });
    ASSERT_EQ(taken + taken_elsewhere, 1);
    ASSERT_EQ(record(orphan.lease.id).recoveries, 1);
  }
}

TEST_P(TaskAdminContract, RetriesAtTheSameTimeRespectAUniqueKey) {
  other();
  for (int i = 0; i < rounds; ++i) {
    const auto key = std::to_string(i);
    const auto first = failed_task({.unique_key = key}), second = failed_task({.unique_key = key});
    const TaskAdmin::Move again{.to = TaskState::pending,
                                .from = {TaskState::failed},
                                .fresh_attempts = true,
                                .actor = "operator",
                                .reason = "again"};
    at_the_same_time([&] { admin().move({.ids = {first}}, again); },
                     [&] { other().admin().move({.ids = {second}}, again); });
    int waiting = 0;
    for (auto id : {first, second}) waiting += state(id) == TaskState::pending ? 1 : 0;
    ASSERT_EQ(waiting, 1) << i;
    for (auto id : {first, second}) cancel(id);
  }
}

}  // namespace holdfast::test
