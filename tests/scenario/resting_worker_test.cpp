#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

void work_for(Millis time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// A worker that was told to rest while a handler runs and others wait for it.
class RestingWorker : public testing::Test {
 protected:
  Engine open_store() {
    Settings settings;
    settings.heartbeat.interval = Millis{1'000};
    settings.heartbeat.stale_threshold_multiplier = 30;  // a machine that is busy kills nobody
    settings.worker.drain_timeout = Millis{50};
    return open(store_.address() + "?durability=crash-safe", settings);
  }
  void SetUp() override {
    tasks_.on<int>("work", [this](int number, Attempt&) {
      if (number < 0) work_for(Millis{1});
      if (number == 0) go_on_.wait();
      return done;
    });
    // After those a worker knows that its handler is rather quick, and claims ahead.
    tasks_.enqueue_all(std::vector(quick, NewTask{"work", "-1"}));
    for (int i = 0; i < many; ++i) ids_.push_back(tasks_.enqueue("work", i));
    worker_.emplace(tasks_, WorkerOptions{.concurrency = 1});
    runs_ = std::jthread{[this] { summary_ = worker_->run(); }};
    ASSERT_TRUE(eventually(
        [&] { return count(TaskState::completed) == quick && count(TaskState::running) > 1; }));
    worker_->rest();
  }
  void TearDown() override {
    let_it_end();
    if (runs_.joinable()) {
      worker_->hurry();
      runs_.join();
    }
  }
  void let_it_end() {
    if (!go_on_.try_wait()) go_on_.count_down();
  }
  TaskState state_of(std::size_t number) { return inspector_.task(ids_.at(number))->state; }
  std::int64_t count(TaskState state) { return inspector_.count({.states = {state}}); }

  static constexpr int quick = 100, many = 20;
  TempStore store_;
  Engine engine_ = open_store();
  Tasks tasks_{engine_};
  Inspector inspector_{engine_};
  std::latch go_on_{1};
  std::vector<TaskId> ids_;
  std::optional<Worker> worker_;
  WorkerSummary summary_{};
  std::jthread runs_;
};

TEST_F(RestingWorker, GivesBackWhatItClaimedAheadAndLetsItsHandlerEnd) {
  EXPECT_TRUE(eventually([&] { return count(TaskState::running) == 1; }))
      << "what nobody has begun is for others";
  EXPECT_TRUE(eventually([&] { return inspector_.workers().at(0).draining; }));
  EXPECT_THAT(inspector_.explain(ids_.at(1)), testing::HasSubstr("No running worker"));
  const auto then = inspector_.workers().at(0).last_heartbeat;
  EXPECT_TRUE(eventually([&] {
    return inspector_.workers().at(0).last_heartbeat > then + Millis{500};
  })) << "ten times as long as it would be given to end";
  EXPECT_EQ(state_of(0), TaskState::running);
  let_it_end();
  EXPECT_TRUE(eventually([&] { return state_of(0) == TaskState::completed; }));
  EXPECT_EQ(inspector_.workers().at(0).state, WorkerState::running) << "it stays";
  EXPECT_EQ(count(TaskState::pending), many - 1);
  worker_->drain();
  runs_.join();
  EXPECT_EQ(summary_.completed, quick + 1);
  EXPECT_EQ(inspector_.task(ids_.at(1))->attempt, 0) << "uncharged";
  EXPECT_EQ(inspector_.workers().at(0).state, WorkerState::stopped);
  EXPECT_FALSE(inspector_.workers().at(0).draining);
}

TEST_F(RestingWorker, LeavesTheRestToAnotherOne) {
  ASSERT_TRUE(eventually([&] { return count(TaskState::running) == 1; }));
  Worker{tasks_, {.concurrency = 1, .until_empty = true}}.run();
  EXPECT_EQ(count(TaskState::completed), quick + many - 1);
  let_it_end();
  EXPECT_TRUE(eventually([&] { return count(TaskState::completed) == quick + many; }));
}

}  // namespace
}  // namespace holdfast::test
