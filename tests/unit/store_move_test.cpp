#include "tasks/store_move.hpp"

#include <gmock/gmock.h>

#include <future>

#include <holdfast/batches.hpp>
#include <holdfast/error.hpp>
#include <holdfast/holdfast.hpp>
#include <holdfast/limit.hpp>
#include <holdfast/schedule.hpp>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

struct Job {
  int n = 0;
};
BOOST_DESCRIBE_STRUCT(Job, (), (n))

class Moving : public testing::Test {
 protected:
  MoveResult move(const Engine& from, const Engine& to, Millis patience = Millis{60'000}) {
    MoveOptions how;
    how.patience = patience;
    return StoreMove{from, to, how, [](const std::string&) {}}.run();
  }
  /// How often each job ran.
  void work_off(const Engine& engine) {
    Tasks tasks{engine};
    tasks.on<Job>("job", [&](const Job& job, Attempt&) {
      ++runs_[job.n];
      return done;
    });
    Worker{tasks, {.concurrency = 1, .until_empty = true}}.run();
  }
  /// A move that ends early, because a task is running that nobody ends.
  void move_half_way() {
    auto& parts = here_.parts();
    auto worker = parts.workers().enlist({{}, {"slow"}, 1});
    Tasks{here_}.enqueue("slow", Job{0});
    auto claimed = parts.tasks().exchange(
        {.claim =
             ClaimRequest{.worker = worker->id(), .kinds = {"slow"}, .lease = Millis{60'000}}});
    ASSERT_EQ(claimed.claimed.size(), 1u);
    EXPECT_THROW(move(here_, there_, Millis{0}), StoreError);
    const auto& slow = claimed.claimed[0];
    parts.tasks().exchange({.settle = {{.lease = slow.lease, .attempt = slow.attempt}}});
    parts.workers().retire(worker->id());
  }

  TempStore store_, other_;
  Engine here_ = open(store_.address()), there_ = open(other_.address());
  std::map<int, int> runs_;
};

/// It would stay for ever where nothing comes any more, without a word.
TEST_F(Moving, AWorkerThatWasAtItEndsAndSaysWhereItWasMovedTo) {
  Settings often;
  often.heartbeat.interval = Millis{20};
  auto engine = open(store_.address(), often);
  Tasks tasks{engine};
  tasks.on<Job>("job", [](const Job&, Attempt&) { return done; });
  Worker worker{tasks, {.concurrency = 1}};
  auto running = std::async(std::launch::async, [&] { worker.run(); });
  auto id = Tasks{here_}.enqueue("job", Job{1});
  Inspector inspector{here_};
  EXPECT_TRUE(eventually([&] { return inspector.task(id)->state == TaskState::completed; }));
  move(here_, there_);
  const bool ended = running.wait_for(std::chrono::seconds{30}) == std::future_status::ready;
  worker.hurry();
  ASSERT_TRUE(ended);
  try {
    running.get();
    ADD_FAILURE() << "it ended without a word";
  } catch (const StoreMoved& error) {
    EXPECT_THAT(error.what(), HasSubstr("was moved to " + there_.name()));
  }
  EXPECT_EQ(inspector.workers().at(0).state, WorkerState::stopped) << "it said goodbye";
}

TEST_F(Moving, WhatAnOperatorReleasedMeanwhileDoesNotRunInBothStores) {
  Tasks tasks{here_};
  auto released = tasks.enqueue("job", Job{1});
  auto cancelled = tasks.enqueue("job", Job{2});
  tasks.enqueue("job", Job{3});
  ASSERT_NO_FATAL_FAILURE(move_half_way());
  Inspector inspector{here_};
  ASSERT_EQ(inspector.task(released)->state, TaskState::held);
  EXPECT_THAT(inspector.explain(released), HasSubstr("run `holdfast move` again"));
  EXPECT_EQ(inspector.retry({.ids = {released}}), 1);
  EXPECT_EQ(inspector.cancel({.ids = {cancelled}}), 1);
  inspector.resume("default");
  work_off(here_);
  EXPECT_EQ(runs_[1], 1);
  move(here_, there_);
  work_off(there_);
  EXPECT_EQ(runs_, (std::map<int, int>{{1, 1}, {3, 1}}));
}

/// As if a run had died between holding the copy, which it must before it can forget it, and that.
TEST_F(Moving, ACopyThatWasAboutToBeForgottenIsForgottenByTheNextRun) {
  auto cancelled = Tasks{here_}.enqueue("job", Job{1});
  ASSERT_NO_FATAL_FAILURE(move_half_way());
  EXPECT_EQ(Inspector{here_}.cancel({.ids = {cancelled}}), 1);
  Inspector there{there_};
  EXPECT_EQ(there.hold({.ids = {cancelled}}, "came to its end elsewhere"), 1);
  move(here_, there_);
  EXPECT_FALSE(there.task(cancelled)) << "somebody would release it";
}

TEST_F(Moving, AStoreThatWasMovedAwaySaysSoToWhoeverChangesIt) {
  Tasks{here_}.enqueue("job", Job{1});
  EXPECT_EQ(Inspector{here_}.moved_to(), "");
  move(here_, there_);
  Inspector inspector{here_};
  EXPECT_EQ(inspector.moved_to(), there_.name());
  EXPECT_THROW(inspector.resume("default"), StoreMoved);
  EXPECT_THROW(inspector.retry({}), StoreMoved);
  EXPECT_THROW(Schedules{here_}.add({.name = "x", .cron = "@hourly", .task = {"job", "{}"}}),
               StoreMoved);
  EXPECT_THROW(Limits{here_}.set({.scope = LimitScope::queue, .name = "q", .max_running = 1}),
               StoreMoved);
  EXPECT_THROW(Batches{here_}.submit({.app = "a", .op = "b", .rows = {{1, "{}"}}}), StoreMoved);
  EXPECT_THROW(work_off(here_), StoreMoved);
  work_off(there_);
  EXPECT_EQ(runs_[1], 1);
}

TEST_F(Moving, AStoreThatWasMovedAwayCanBeMovedInto) {
  Inspector{here_}.pause("slow");
  Tasks{here_}.enqueue("job", Job{1});
  move(here_, there_);
  Tasks{there_}.enqueue("job", Job{2});
  EXPECT_EQ(move(there_, here_).moved, 2);
  EXPECT_EQ(Inspector{here_}.moved_to(), "");
  Tasks{here_}.enqueue("job", Job{3});
  work_off(here_);
  EXPECT_EQ(runs_, (std::map<int, int>{{1, 1}, {2, 1}, {3, 1}}));
  auto paused = here_.parts().admin().paused();
  EXPECT_THAT(paused, testing::ElementsAre("slow")) << "as it was before";
}

TEST_F(Moving, AStoreThatIsBeingMovedAwayIsNotMovedInto) {
  auto id = Tasks{here_}.enqueue("job", Job{1});
  ASSERT_NO_FATAL_FAILURE(move_half_way());
  EXPECT_THAT(Inspector{here_}.explain(id), HasSubstr("being moved to"));
  try {
    move(there_, here_);
    FAIL() << "it was moved";
  } catch (const InvalidRequest& error) {
    EXPECT_THAT(error.what(), HasSubstr("run that to its end first"));
  }
  move(here_, there_);
  work_off(there_);
  EXPECT_EQ(runs_[1], 1);
}

}  // namespace
}  // namespace holdfast::test
