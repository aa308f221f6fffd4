#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

/// Keeps attempts until somebody ends them.
class Shelf {
 public:
  AsyncHandler handler() {
    return [this](std::shared_ptr<OpenAttempt> attempt) {
      std::lock_guard lock{mutex_};
      kept_.push_back(std::move(attempt));
    };
  }
  std::vector<std::shared_ptr<OpenAttempt>> take() {
    std::lock_guard lock{mutex_};
    return std::exchange(kept_, {});
  }
  std::size_t size() const {
    std::lock_guard lock{mutex_};
    return kept_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<OpenAttempt>> kept_;
};

class AsyncHandlers : public testing::Test {
 protected:
  Engine open_store() {
    Settings settings;
    settings.worker.drain_timeout = Millis{50};
    return open(store_.address() + "?durability=crash-safe", settings);
  }

  TempStore store_;
  Engine engine_ = open_store();
  Tasks tasks_{engine_};
  Inspector inspector_{engine_};
  Shelf shelf_;
  std::vector<std::unique_ptr<std::stop_callback<std::function<void()>>>> stops_;
};

TEST_F(AsyncHandlers, ThousandsAreOpenAtOnceAndEndedByAnotherThread) {
  constexpr std::size_t many = 3'000;
  tasks_.on_async("wait", shelf_.handler());
  auto ids = tasks_.enqueue_all(std::vector(many, NewTask{"wait", "1"}));
  Worker worker{tasks_, {.concurrency = many, .until_empty = true}};
  std::jthread other{[&] {
    ASSERT_TRUE(eventually([&] { return shelf_.size() == many; }, std::chrono::seconds{60}));
    for (const auto& attempt : shelf_.take()) {
      attempt->then("next", 1);
      attempt->end(done_with(attempt->number()));
    }
  }};
  EXPECT_EQ(worker.run().completed, static_cast<std::int64_t>(many));
  EXPECT_EQ(inspector_.task(ids.back())->result, "1");
  EXPECT_EQ(inspector_.count({.kind = "next"}), static_cast<std::int64_t>(many));
}

TEST_F(AsyncHandlers, OnlyTheFirstWordCountsAndSilenceIsARetry) {
  tasks_.on_async("twice", [](std::shared_ptr<OpenAttempt> attempt) {
    attempt->end(done);
    attempt->end(fail("too late"));
  });
  tasks_.on_async("silent", [](std::shared_ptr<OpenAttempt>) {});
  tasks_.on_async("thrower", [](std::shared_ptr<OpenAttempt>) { throw InvalidRequest{"no"}; });
  auto twice = tasks_.enqueue("twice", 1);
  auto silent = tasks_.enqueue("silent", 1, {.max_attempts = 1});
  auto thrower = tasks_.enqueue("thrower", 1);
  Worker{tasks_, {.until_empty = true}}.run();
  EXPECT_EQ(inspector_.task(twice)->state, TaskState::completed);
  EXPECT_EQ(inspector_.task(silent)->state, TaskState::failed);
  EXPECT_THAT(inspector_.task(silent)->error, testing::HasSubstr("without saying how"));
  EXPECT_EQ(inspector_.task(thrower)->state, TaskState::failed);
}

TEST_F(AsyncHandlers, WhatIsNotEndedWhenTheWorkerStopsIsGivenBackUncharged) {
  tasks_.on_async("wait", [this](std::shared_ptr<OpenAttempt> attempt) {
    auto stop = attempt->stop_token();
    auto end = [weak = std::weak_ptr{attempt}] {
      if (auto open = weak.lock()) open->end(retry("stopped"));
    };
    stops_.push_back(std::make_unique<std::stop_callback<std::function<void()>>>(stop, end));
    shelf_.handler()(attempt);
  });
  auto id = tasks_.enqueue("wait", 1);
  Worker worker{tasks_};
  std::jthread other{[&] {
    ASSERT_TRUE(eventually([&] { return shelf_.size() == 1; }));
    worker.drain();
  }};
  EXPECT_EQ(worker.run().given_back, 1);
  EXPECT_EQ(inspector_.task(id)->state, TaskState::pending);
  EXPECT_EQ(inspector_.task(id)->attempt, 0);
}

TEST_F(AsyncHandlers, AWorkerHasHandlersOfOneSort) {
  tasks_.on_async("wait", shelf_.handler());
  tasks_.on<int>("work", [](int, Attempt&) { return done; });
  EXPECT_THROW((Worker{tasks_}), InvalidRequest);
}

}  // namespace
}  // namespace holdfast::test
