#include <gmock/gmock.h>

#include "contract/task_store_contract.hpp"

namespace holdfast::test {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_P(TaskStoreContract, BlockedTaskRunsWhenAllItWaitsForHaveCompleted) {
  auto worker = enlist();
  auto first = insert("a"), second = insert("a");
  auto last = insert("b", {.after = {first, second}});
  EXPECT_EQ(state(last), TaskState::blocked);
  EXPECT_THAT(record(last).waits_for, UnorderedElementsAre(first, second));
  auto claimed = claim(worker, 10);
  ASSERT_EQ(claimed.size(), 2u);
  complete(claimed[0]);
  EXPECT_EQ(state(last), TaskState::blocked);
  EXPECT_THAT(claim(worker), IsEmpty());
  Exchange exchange{.settle = {{.lease = claimed[1].lease, .attempt = 1}},
                    .claim = request(worker, 10)};
  auto answer = tasks().exchange(exchange);
  ASSERT_EQ(answer.claimed.size(), 1u) << "unblocked and claimed in one step";
  EXPECT_EQ(answer.claimed[0].lease.id, last);
}

TEST_P(TaskStoreContract, TaskAfterACompletedOneIsPendingAtOnce) {
  auto first = insert("a");
  complete(claim_one(enlist()));
  EXPECT_EQ(state(insert("b", {.after = {first}})), TaskState::pending);
}

TEST_P(TaskStoreContract, TaskAfterACancelledOneIsAnErrorBecauseItCouldNeverRun) {
  auto first = insert("a");
  cancel(first);
  ASSERT_EQ(state(first), TaskState::cancelled);
  EXPECT_THROW(insert("b", {.after = {first}}), InvalidRequest);
}

TEST_P(TaskStoreContract, RepeatedInsertIsFineWhateverBecameOfWhatItWaitsFor) {
  auto first = insert("a");
  NewTask second{"b", "{}", {.after = {first}, .id = TaskId::make()}};
  ASSERT_TRUE(tasks().insert(std::span{&second, 1})[0].created);
  cancel(first);
  EXPECT_FALSE(tasks().insert(std::span{&second, 1})[0].created);
}

TEST_P(TaskStoreContract, TaskAfterAnUnknownOneIsAnError) {
  EXPECT_THROW(insert("b", {.after = {TaskId::make()}}), InvalidRequest);
}

TEST_P(TaskStoreContract, TasksOfOneInsertMayWaitForEachOther) {
  NewTask first{"a", "{}", {.id = TaskId::make()}};
  NewTask second{"b", "{}", {.after = {*first.options.id}, .id = TaskId::make()}};
  tasks().insert(std::vector{first, second});
  EXPECT_EQ(state(*second.options.id), TaskState::blocked);
  complete(claim_one(enlist()));
  EXPECT_EQ(state(*second.options.id), TaskState::pending);
}

TEST_P(TaskStoreContract, TasksAfterAFailedOneStayBlockedUntilItWasRetriedWell) {
  auto worker = enlist();
  auto first = insert("a");
  auto before = insert("b", {.after = {first}});
  fail(claim_one(worker));
  auto later = insert("b", {.after = {first}});
  EXPECT_EQ(state(before), TaskState::blocked);
  EXPECT_EQ(state(later), TaskState::blocked);
  engine().admin().move({.ids = {first}}, {.to = TaskState::pending,
                                           .from = {TaskState::failed},
                                           .fresh_attempts = true,
                                           .actor = "operator",
                                           .reason = "try again"});
  complete(claim_one(worker));
  EXPECT_EQ(state(before), TaskState::pending);
  EXPECT_EQ(state(later), TaskState::pending);
}

TEST_P(TaskStoreContract, CancellingReachesWhateverWaitsHoweverFarDown) {
  auto first = insert("a");
  auto second = insert("b", {.after = {first}});
  auto last = insert("c", {.after = {second}});
  for (int i = 0; i < 30; ++i) last = insert("c", {.after = {last}});
  cancel(first);
  EXPECT_EQ(state(second), TaskState::cancelled);
  EXPECT_EQ(state(last), TaskState::cancelled);
}

TEST_P(TaskStoreContract, AnEndReachesHoweverManyWaitForIt) {
  constexpr int many = 1'200;
  const auto worker = enlist();
  for (auto end : {TaskState::completed, TaskState::cancelled}) {
    const auto first = insert("a");
    TaskOptions options;
    options.after = {first};
    tasks().insert(std::vector<NewTask>(many, NewTask{"b", "{}", options}));
    const auto claimed = claim_one(worker);
    const auto exchanged =
        tasks().exchange({.settle = {{.lease = claimed.lease, .to = end, .attempt = 1}}});
    EXPECT_THAT(exchanged.also, testing::SizeIs(many)) << "each is told of";
    const auto becomes = end == TaskState::completed ? TaskState::pending : end;
    EXPECT_EQ(engine().admin().count({.states = {becomes}, .kind = "b"}), many);
    engine().admin().move({.kind = "b"}, {.to = TaskState::held,
                                          .from = {TaskState::pending},
                                          .actor = "operator",
                                          .reason = "out of the way"});
  }
}

TEST_P(TaskStoreContract, FollowUpMayWaitForAnotherFollowUp) {
  insert("a");
  auto claimed = claim_one(enlist());
  NewTask first{"b", "{}", {.id = TaskId::make()}};
  NewTask second{"c", "{}", {.after = {*first.options.id}, .id = TaskId::make()}};
  EXPECT_EQ(settle({.lease = claimed.lease, .attempt = 1, .follow_ups = {first, second}}),
            Settled::accepted);
  EXPECT_EQ(state(*first.options.id), TaskState::pending);
  EXPECT_EQ(state(*second.options.id), TaskState::blocked);
}

}  // namespace holdfast::test
