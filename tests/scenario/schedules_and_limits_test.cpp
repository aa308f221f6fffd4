#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "support/process.hpp"
#include "support/temp_store.hpp"
#include "tasks/engine_parts.hpp"
#include "tasks/schedule_plan.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

/// Workers in this process, each with an engine of its own.
class SchedulesAndLimits : public testing::Test {
 protected:
  Engine engine() const { return open(store_.address()); }

  /// A schedule whose time was a while ago.
  static void add_due(const Engine& engine, const std::string& name) {
    auto& parts = engine.parts();
    ScheduleChange change;
    change.to.name = name;
    change.to.cron = "@yearly";
    change.to.task = {"tick", "{}"};
    change.to.next = parts.clock().wall() - 10min;
    change.to.revision = next_revision(0, parts.clock().wall());
    ASSERT_TRUE(parts.schedules().apply(std::span{&change, 1}).at(0).accepted);
  }

  /// Runs tasks of kind `work` in two workers until all are done; how many ran at once at most.
  int highest_concurrency(int workers, int each) {
    std::atomic<int> running{0}, highest{0};
    auto handler = [&](Attempt& attempt) -> Outcome {
      int now = ++running;
      for (int seen = highest; now > seen && !highest.compare_exchange_weak(seen, now);) continue;
      attempt.log("a moment of work");
      std::this_thread::yield();
      --running;
      return done;
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < workers; ++i)
      threads.emplace_back([&] {
        Tasks tasks{engine()};
        tasks.on_json("work", handler);
        Worker{tasks, {.concurrency = each, .until_empty = true}}.run();
      });
    threads.clear();
    return highest;
  }

  TempStore store_;
};

TEST_F(SchedulesAndLimits, AWorkerThatStartsFiresWhatWasMissed) {
  add_due(engine(), "missed");
  Tasks tasks{engine()};
  std::atomic<int> ticks{0};
  tasks.on_json("tick", [&](Attempt&) {
    ++ticks;
    return done;
  });
  Worker{tasks, {.until_empty = true}}.run();
  EXPECT_EQ(ticks, 1);
}

TEST_F(SchedulesAndLimits, AWorkerThatRunsFiresWhatBecomesDue) {
  Tasks tasks{engine()};
  std::atomic<int> ticks{0};
  tasks.on_json("tick", [&](Attempt&) {
    ++ticks;
    return done;
  });
  Worker worker{tasks};
  std::jthread running{[&] { worker.run(); }};
  auto other = engine();
  EXPECT_TRUE(eventually([&] { return !Inspector{other}.workers().empty(); }, 30s));
  add_due(other, "first");
  EXPECT_TRUE(eventually([&] { return ticks == 1; }, 30s));
  add_due(other, "second");
  EXPECT_TRUE(eventually([&] { return ticks == 2; }, 30s));
  worker.drain();
}

TEST_F(SchedulesAndLimits, TwoWorkersTogetherKeepToALimitAndFinishEverything) {
  Limits{engine()}.set({.scope = LimitScope::kind, .name = "work", .max_running = 3});
  Tasks tasks{engine()};
  tasks.enqueue_all(std::vector<NewTask>(300, NewTask{"work", "{}"}));
  EXPECT_LE(highest_concurrency(2, 4), 3);
  EXPECT_EQ(Inspector{engine()}.count({.states = {TaskState::completed}}), 300);
}

TEST_F(SchedulesAndLimits, ARateIsKeptToOverTheWholeRun) {
  constexpr int count = 30;
  Limits{engine()}.set(
      {.scope = LimitScope::queue, .name = "*", .max_running = {}, .rate = Rate{1, 50ms, 5}});
  Tasks tasks{engine()};
  tasks.enqueue_all(std::vector<NewTask>(count, NewTask{"work", "{}"}));
  auto began = std::chrono::steady_clock::now();
  highest_concurrency(2, 4);
  EXPECT_GE(std::chrono::steady_clock::now() - began, (count - 5) * 50ms);
  EXPECT_EQ(Inspector{engine()}.count({.states = {TaskState::completed}}), count);
}

TEST_F(SchedulesAndLimits, ExplainNamesTheLimit) {
  Tasks tasks{engine()};
  Limits limits{engine()};
  limits.set({.scope = LimitScope::key, .name = "*", .max_running = 0});
  auto id = tasks.enqueue(NewTask{"work", "{}", {.limit_key = "acme"}});
  EXPECT_THAT(Inspector{engine()}.explain(id), testing::HasSubstr("key 'acme'"));
}

}  // namespace
}  // namespace holdfast::test
