#include <gmock/gmock.h>

#include "contract/task_store_contract.hpp"

namespace holdfast::test {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST_P(TaskStoreContract, InsertedTaskKeepsEverythingThatWasSaid) {
  TaskOptions options{.queue = "mail",
                      .priority = 2,
                      .delay = minutes{5},
                      .max_attempts = 9,
                      .backoff = {.first = Millis{250}, .factor = 3, .longest = hours{2}},
                      .timeout = minutes{7},
                      .unique_key = "welcome/ada",
                      .tags = {"new", "paying"}};
  auto id = insert("a", options, R"({"to":"ada"})");
  reopen();
  auto task = record(id);
  EXPECT_EQ(task.kind, "a");
  EXPECT_EQ(task.queue, "mail");
  EXPECT_EQ(task.state, TaskState::pending);
  EXPECT_EQ(task.priority, 2);
  EXPECT_EQ(task.payload, R"({"to":"ada"})");
  EXPECT_EQ(task.tags, options.tags);
  EXPECT_EQ(task.unique_key, "welcome/ada");
  EXPECT_EQ(task.attempt, 0);
  EXPECT_EQ(task.max_attempts, 9);
  EXPECT_EQ(task.timeout, minutes{7});
  EXPECT_EQ(task.created_at, clock().wall());
  EXPECT_EQ(task.run_at, clock().wall() + minutes{5});

  clock().advance(minutes{5});
  auto claimed = claim_one(enlist());
  EXPECT_EQ(claimed.payload, R"({"to":"ada"})");
  EXPECT_EQ(claimed.queue, "mail");
  EXPECT_EQ(claimed.attempt, 1);
  EXPECT_EQ(claimed.max_attempts, 9);
  EXPECT_EQ(claimed.timeout, minutes{7});
  EXPECT_EQ(claimed.backoff.first, Millis{250});
  EXPECT_EQ(claimed.backoff.factor, 3);
  EXPECT_EQ(claimed.backoff.longest, hours{2});
  EXPECT_FALSE(claimed.suspect);
}

TEST_P(TaskStoreContract, ManyAreInsertedInOneStepAndAnsweredInOrder) {
  std::vector<NewTask> many(1'000, NewTask{"a", "{}"});
  for (auto& each : many) each.options.id = TaskId::make();
  auto inserted = tasks().insert(many);
  ASSERT_EQ(inserted.size(), many.size());
  for (std::size_t i = 0; i < many.size(); ++i) {
    ASSERT_EQ(inserted[i].id, many[i].options.id);
    ASSERT_TRUE(inserted[i].created);
  }
  EXPECT_EQ(other().admin().count({}), 1'000);
}

TEST_P(TaskStoreContract, InsertIsAllOrNone) {
  std::vector<NewTask> some(3, NewTask{"a", "{}"});
  some[2].options.after = {TaskId::make()};
  EXPECT_THROW(tasks().insert(some), InvalidRequest);
  EXPECT_EQ(engine().admin().count({}), 0);
}

TEST_P(TaskStoreContract, RepeatedInsertWithTheSameIdIsFine) {
  NewTask task{"a", R"({"n":1})", {.id = TaskId::make()}};
  EXPECT_TRUE(tasks().insert(std::span{&task, 1})[0].created);
  auto again = other().tasks().insert(std::span{&task, 1})[0];
  EXPECT_FALSE(again.created);
  EXPECT_EQ(again.id, *task.options.id);
  EXPECT_EQ(engine().admin().count({}), 1);
  complete(claim_one(enlist()));
  EXPECT_FALSE(tasks().insert(std::span{&task, 1})[0].created) << "not even after its end";
  EXPECT_EQ(state(*task.options.id), TaskState::completed);
}

TEST_P(TaskStoreContract, RepeatedInsertWithAUniqueKeyIsRecognisedByItsId) {
  NewTask task{"a", "{}", {.unique_key = "k", .id = TaskId::make()}};
  EXPECT_TRUE(tasks().insert(std::span{&task, 1})[0].created);
  EXPECT_FALSE(tasks().insert(std::span{&task, 1})[0].created);
  task.payload = "[]";
  EXPECT_THROW(tasks().insert(std::span{&task, 1}), InvalidRequest);
}

TEST_P(TaskStoreContract, SameIdWithAnotherPayloadIsAnError) {
  auto id = insert("a", {}, R"({"n":1})");
  std::vector<NewTask> clash{{"a", "{}"}, {"a", R"({"n":2})", {.id = id}}};
  EXPECT_THROW(tasks().insert(clash), InvalidRequest);
  EXPECT_EQ(engine().admin().count({}), 1);
  EXPECT_EQ(record(id).payload, R"({"n":1})");
}

TEST_P(TaskStoreContract, SameIdWithAnotherKindOrQueueIsAnError) {
  auto id = insert("a", {.queue = "mail"});
  NewTask other_kind{"b", "{}", {.queue = "mail", .id = id}};
  EXPECT_THROW(tasks().insert(std::span{&other_kind, 1}), InvalidRequest);
  NewTask other_queue{"a", "{}", {.queue = "post", .id = id}};
  EXPECT_THROW(tasks().insert(std::span{&other_queue, 1}), InvalidRequest);
}

TEST_P(TaskStoreContract, SameIdWithAnotherLimitKeyIsARepetition) {
  NewTask task{"a", "{}", {.limit_key = "ada", .id = TaskId::make()}};
  EXPECT_TRUE(tasks().insert(std::span{&task, 1})[0].created);
  for (std::string key : {"", "bob"}) {
    task.options.limit_key = key;
    EXPECT_FALSE(tasks().insert(std::span{&task, 1})[0].created) << "how it is run is no identity";
    NewTask twins[2] = {{"a", "{}"}, task};
    EXPECT_FALSE(tasks().insert(twins)[1].created);
  }
}

TEST_P(TaskStoreContract, InsertSaysWhichWait) {
  auto first = insert("a");
  auto fresh = TaskId::make();
  std::vector<NewTask> some{{"a", "{}", {.id = fresh}},
                            {"b", "{}", {.after = {first}}},
                            {"b", "{}", {.after = {fresh}}},
                            {"c", "{}", {.unique_key = "k"}}};
  auto inserted = tasks().insert(some);
  using enum TaskState;
  const TaskState expected[] = {pending, blocked, blocked, pending};
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(inserted[i].state, expected[i]) << i;
    EXPECT_EQ(state(inserted[i].id), expected[i]) << i;
  }
}

TEST_P(TaskStoreContract, UniqueKeyLetsInOnlyOneWhileItIsUnfinished) {
  auto first = insert("a", {.unique_key = "k"});
  NewTask second{"b", "{}", {.unique_key = "k"}};
  auto answer = other().tasks().insert(std::span{&second, 1})[0];
  EXPECT_FALSE(answer.created);
  EXPECT_EQ(answer.id, first);

  auto claimed = claim_one(enlist());
  EXPECT_EQ(insert("a", {.unique_key = "k"}), first) << "running is unfinished";
  complete(claimed);
  EXPECT_NE(insert("a", {.unique_key = "k"}), first);
  EXPECT_EQ(engine().admin().count({}), 2);
}

TEST_P(TaskStoreContract, UniqueKeyHoldsWithinOneInsertToo) {
  std::vector<NewTask> twins(2, NewTask{"a", "{}", {.unique_key = "k"}});
  auto inserted = tasks().insert(twins);
  EXPECT_TRUE(inserted[0].created);
  EXPECT_FALSE(inserted[1].created);
  EXPECT_EQ(inserted[0].id, inserted[1].id);
  EXPECT_EQ(engine().admin().count({}), 1);
}

TEST_P(TaskStoreContract, EmptyInsertIsNothing) { EXPECT_TRUE(tasks().insert({}).empty()); }

TEST_P(TaskStoreContract, ScheduledTaskWaitsForItsTime) {
  auto delayed = insert("a", {.delay = seconds{10}});
  auto at = insert("a", {.at = clock().wall() + seconds{5}});
  auto worker = enlist();
  EXPECT_TRUE(claim(worker, 10).empty());
  clock().advance(Millis{4'999});
  EXPECT_TRUE(claim(worker, 10).empty());
  clock().advance(Millis{1});
  EXPECT_EQ(claim_one(worker).lease.id, at);
  clock().advance(seconds{5});
  EXPECT_EQ(claim_one(worker).lease.id, delayed);
}

TEST_P(TaskStoreContract, TaskThatComesAgainUnderItsIdWaitsForItsNewTime) {
  auto id = insert("a");
  cancel(id);
  ASSERT_EQ(engine().admin().prune({.max_finished = 0}), 1);
  // At the very moment of the first: whatever that left behind looks as if it were of this one.
  EXPECT_EQ(insert("a", {.delay = seconds{10}, .id = id}), id);
  auto worker = enlist();
  EXPECT_TRUE(claim(worker, 10).empty());
  clock().advance(seconds{10});
  EXPECT_EQ(claim_one(worker).lease.id, id);
  EXPECT_TRUE(claim(worker, 10).empty()) << "there is one of it";
}

}  // namespace holdfast::test
