#include <gmock/gmock.h>

#include "contract/task_store_contract.hpp"

namespace holdfast::test {

/// Stores may treat many at once differently from few; what they promise is the same.

namespace {

constexpr int many = 170;

std::vector<NewTask> many_tasks() {
  std::vector<NewTask> tasks(many, NewTask{"a", "{}"});
  for (auto& task : tasks) task.options.id = TaskId::make();
  return tasks;
}

std::vector<Settlement> completions(const std::vector<Claimed>& claimed) {
  std::vector<Settlement> settlements;
  for (const auto& one : claimed)
    settlements.push_back({.lease = one.lease, .attempt = one.attempt});
  return settlements;
}

}  // namespace

TEST_P(TaskStoreContract, ManySettledAtOnceAreAllDone) {
  tasks().insert(many_tasks());
  auto claimed = claim(enlist(), many);
  ASSERT_EQ(claimed.size(), std::size_t{many});
  clock().advance(std::chrono::seconds{3});
  auto settled = tasks().exchange({.settle = completions(claimed)}).settled;
  EXPECT_THAT(settled, testing::AllOf(testing::SizeIs(many), testing::Each(Settled::accepted)));
  for (const auto& one : claimed) {
    auto task = record(one.lease.id);
    ASSERT_EQ(task.state, TaskState::completed);
    ASSERT_EQ(task.attempt, 1);
    ASSERT_EQ(task.finished_at, clock().wall());
  }
  EXPECT_THAT(tasks().exchange({.settle = completions(claimed)}).settled,
              testing::Each(Settled::repeated));
}

TEST_P(TaskStoreContract, OneStaleSettlementAmongManyIsRefusedAlone) {
  tasks().insert(many_tasks());
  auto claimed = claim(enlist(), many);
  ASSERT_EQ(claimed.size(), std::size_t{many});
  auto settlements = completions(claimed);
  settlements[20].lease.token.value -= 1;
  auto settled = tasks().exchange({.settle = settlements}).settled;
  ASSERT_EQ(settled.size(), settlements.size());
  for (std::size_t i = 0; i < settled.size(); ++i) {
    bool stale = i == 20;
    ASSERT_EQ(settled[i], stale ? Settled::refused : Settled::accepted) << i;
    ASSERT_EQ(state(claimed[i].lease.id), stale ? TaskState::running : TaskState::completed) << i;
  }
}

/// Among them runs of the same, single ones, one that came too late, one that comes twice, and one
/// that is to stop.
TEST_P(TaskStoreContract, ManyEndsOfAllSortsBecomeWhatEachWasAskedFor) {
  tasks().insert(many_tasks());
  const auto worker = enlist();
  const auto claimed = claim(worker, many);
  ASSERT_EQ(claimed.size(), std::size_t{many});
  const std::size_t stale = 3, twice = 5, stopped = 100, first_single = 120;
  auto settlements = completions(claimed);
  for (std::size_t i = 0; i < settlements.size(); ++i) {
    auto& one = settlements[i];
    one.to = i < 60 || i / 2 % 2 == 0 ? TaskState::failed : TaskState::pending;
    one.reason = i < first_single ? "it broke" : std::to_string(i);
    one.delay = Millis{60'000};
  }
  settlements[stale].lease.token.value -= 1;
  settlements[stopped].to = TaskState::pending;
  ask_to_stop(claimed[stopped].lease.id);
  settlements.push_back(settlements[twice]);
  const auto exchanged = tasks().exchange({.settle = settlements});
  ASSERT_EQ(exchanged.settled.size(), settlements.size());
  ASSERT_THAT(exchanged.also, testing::SizeIs(1)) << "the one that is cancelled instead";
  EXPECT_EQ(exchanged.also[0].id, claimed[stopped].lease.id);
  EXPECT_EQ(exchanged.settled.back(), Settled::repeated);
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    const auto id = claimed[i].lease.id;
    const auto task = record(id);
    ASSERT_EQ(exchanged.settled[i], i == stale ? Settled::refused : Settled::accepted) << i;
    ASSERT_EQ(task.state, i == stale     ? TaskState::running
                          : i == stopped ? TaskState::cancelled
                                         : settlements[i].to)
        << i;
    if (i == stale) continue;
    ASSERT_EQ(task.error, settlements[i].reason) << i;
    if (task.state == TaskState::pending) {
      ASSERT_EQ(task.run_at, clock().wall() + Millis{60'000}) << i;
    }
    const auto history = engine().admin().recorded_history(id, {});
    ASSERT_EQ(history.size(), i == stopped ? 2u : 1u) << i;
    ASSERT_EQ(history.back().transition.reason, settlements[i].reason) << i;
    ASSERT_EQ(history.back().transition.to, task.state) << i;
    ASSERT_EQ(history.back().worker, worker) << i;
  }
  const auto checked = engine().check_integrity(true, {});
  for (const auto& damage : checked.damage) ADD_FAILURE() << damage.what;
}

TEST_P(TaskStoreContract, OneOfManyThatOthersWaitForReleasesThem) {
  auto on = many_tasks();
  tasks().insert(on);
  auto waits = insert("a", {.after = {*on[70].options.id}});
  auto claimed = claim(enlist(), many);
  ASSERT_EQ(state(waits), TaskState::blocked);
  tasks().exchange({.settle = completions(claimed)});
  EXPECT_EQ(state(waits), TaskState::pending);
}

TEST_P(TaskStoreContract, ManyInsertedWithOneThatExistsAddTheOthers) {
  auto some = many_tasks();
  tasks().insert(std::span{&some[33], 1});
  auto inserted = tasks().insert(some);
  ASSERT_EQ(inserted.size(), some.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    ASSERT_EQ(inserted[i].id, some[i].options.id);
    ASSERT_EQ(inserted[i].created, i != 33) << i;
  }
  EXPECT_EQ(engine().admin().count({}), many);
}

TEST_P(TaskStoreContract, ManyInsertedWithOneThatExistsDifferentlyAddNothing) {
  auto some = many_tasks();
  auto before = some[33];
  before.payload = R"({"other":true})";
  tasks().insert(std::span{&before, 1});
  EXPECT_THROW(tasks().insert(some), InvalidRequest);
  EXPECT_EQ(engine().admin().count({}), 1);
}

TEST_P(TaskStoreContract, ManyOfAllSortsKeepTheirOrderAndWhatWasSaid) {
  auto some = many_tasks();
  for (std::size_t i = 0; i < some.size(); ++i) {
    some[i].payload = std::to_string(i);
    if (i % 29 == 0) some[i].options.tags = {"tagged"};
    if (i % 31 == 0) some[i].options.unique_key = "key/" + some[i].payload;
  }
  tasks().insert(some);
  auto claimed = claim(enlist(), many);
  ASSERT_EQ(claimed.size(), some.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    ASSERT_EQ(claimed[i].lease.id, *some[i].options.id) << i;
    ASSERT_EQ(claimed[i].payload, some[i].payload);
    ASSERT_EQ(record(*some[i].options.id).tags, some[i].options.tags);
  }
}

}  // namespace holdfast::test
