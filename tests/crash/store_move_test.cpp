#include <gmock/gmock.h>

#include <csignal>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "crash/crash_test.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// A store of the engine under test is moved into a file, or a file into such a store, by a process
/// that is killed again and again.
class MovingStores : public CrashTest {
 protected:
  std::string address() const override { return is_moved_ ? to() : from(); }
  std::string from() const { return backwards_ ? file() : CrashTest::address(); }
  std::string to() const { return backwards_ ? CrashTest::address() : file(); }
  std::string file() const { return "sqlite:" + (store_.folder() / "other.db").string(); }

  Process start_move(const Environment& extra = {}) {
    return start("move", {"to=" + to(), "crashes=1000"}, extra);
  }
  void finish_move() {
    auto mover = start_move();
    auto ending = mover.wait();
    ASSERT_TRUE(ending && ending->ok()) << mover.err();
  }

  /// Some are done, some wait, and some were running when their worker died.
  void fill() {
    Words words{"batch=10", "ms=1", "attempts=1000"};
    enqueue(10, words);
    work_it_off();
    auto first = enqueue(25, {"batch=10", "ms=50", "attempts=1000"}).at(0);
    auto worker = start("work", {"crashes=1000"});
    ASSERT_TRUE(comes_to(Said::started, first));
    worker.kill();
  }

  /// The first run dies at the first visit of a place, the second run at its second one, and so on
  /// until one comes to its end. Returns how many died; `mourn` is called after each death.
  int die_again_and_again(const std::string& point, const std::function<void()>& mourn = {}) {
    for (int deaths = 0; deaths < 100; ++deaths) {
      auto mover = start_move({{"HOLDFAST_KILL_AT", fmt::format("{}:{}", point, deaths + 1)}});
      auto ending = mover.wait();
      if (ending && ending->ok()) return deaths;
      EXPECT_TRUE(ending && ending->signal == SIGKILL) << mover.err();
      if (!ending || ending->signal != SIGKILL) break;
      if (mourn) mourn();
    }
    ADD_FAILURE() << "there was no end to it";
    return 0;
  }

  /// All that was done and said in one store or the other.
  void expect_all_is_well(const Expectations& expectations = {}) {
    auto before = view_store(open(from())), after = view_store(open(to()));
    EXPECT_TRUE(before.tasks.empty()) << before.tasks.size() << " tasks were left behind";
    after.reports.insert(after.reports.end(), before.reports.begin(), before.reports.end());
    after.reports_were_shed |= before.reports_were_shed;
    after.refused += before.refused;
    auto findings = find_defects(said(), after, expectations);
    // The tasks of the move's own, which recovery took back from those that died, are gone.
    std::set<TaskId> ours;
    for (const auto& line : said()) ours.insert(line.task);
    std::erase_if(findings, [&](const Finding& finding) {
      return finding.defect == Defect::report_mismatch && !ours.contains(finding.task);
    });
    EXPECT_TRUE(findings.empty()) << to_text(findings);
  }

  bool backwards_ = false;
  bool is_moved_ = false;
};

class MovingStoresAt : public MovingStores,
                       public testing::WithParamInterface<std::pair<const char*, bool>> {};

TEST_P(MovingStoresAt, DyingAtEachStepLosesNothingAndRunsNothingTwice) {
  auto [point, backwards] = GetParam();
  backwards_ = backwards;
  ASSERT_NO_FATAL_FAILURE(fill());
  EXPECT_GE(die_again_and_again(point), 1) << point << " was not reached";
  auto enqueuer = start("enqueue", {"count=1"});
  ASSERT_TRUE(enqueuer.wait());
  EXPECT_THAT(enqueuer.err(), HasSubstr("was moved to " + open(to()).name()))
      << "the old address tells the new";
  is_moved_ = true;
  work_it_off({"crashes=1000"});
  expect_all_is_well();
}

INSTANTIATE_TEST_SUITE_P(
    Every, MovingStoresAt,
    testing::Values(std::pair{"move_before_commit", false}, std::pair{"move_after_commit", false},
                    std::pair{"enqueue_after_commit", false},
                    std::pair{"exchange_before_commit", false},
                    std::pair{"exchange_after_commit", false},
                    std::pair{"move_before_commit", true}, std::pair{"move_after_commit", true},
                    std::pair{"exchange_after_commit", true}),
    [](const auto& point) {
      return std::string{point.param.first} + (point.param.second ? "_backwards" : "");
    });

/// A store that was moved away is opened again by a move into it, before anything else: what the
/// first move had paused goes on, and then it says no more that it was moved.
TEST_F(MovingStores, DyingWhileAStoreThatWasLeftIsOpenedAgain) {
  ASSERT_NO_FATAL_FAILURE(fill());
  Inspector{open(from())}.pause("slow");
  ASSERT_NO_FATAL_FAILURE(finish_move());
  backwards_ = true;
  auto left_paused = [&] { return open(to()).parts().admin().paused(); };
  auto is_closed = [&] { return open(to()).parts().move_note().has_value(); };
  auto dies_at = [&](const std::string& point) {
    auto mover = start_move({{"HOLDFAST_KILL_AT", point}});
    auto ending = mover.wait();
    ASSERT_TRUE(ending && ending->signal == SIGKILL) << point << "\n" << mover.err();
  };
  ASSERT_THAT(left_paused(), UnorderedElementsAre("default", "slow"));
  ASSERT_NO_FATAL_FAILURE(dies_at("move_before_commit:1"));
  EXPECT_THAT(left_paused(), UnorderedElementsAre("default", "slow"));
  ASSERT_NO_FATAL_FAILURE(dies_at("move_after_commit:1"));
  EXPECT_THAT(left_paused(), ElementsAre("slow")) << "what people paused stays so";
  EXPECT_TRUE(is_closed());
  ASSERT_NO_FATAL_FAILURE(dies_at("move_before_commit:1"));
  EXPECT_TRUE(is_closed());
  ASSERT_NO_FATAL_FAILURE(dies_at("move_after_commit:1"));
  EXPECT_FALSE(is_closed());
  EXPECT_FALSE(open(from()).parts().move_note()) << "nothing has begun yet that cannot be left";
  ASSERT_NO_FATAL_FAILURE(finish_move());
  EXPECT_THAT(left_paused(), ElementsAre("slow"));
  is_moved_ = true;
  work_it_off({"crashes=1000"});
  expect_all_is_well();
}

/// If what was taken could run there before it is gone here, it would be taken a second time.
TEST_F(MovingStores, WhatAWorkerThereRunsAndForgetsAtOnceIsNotRunTwice) {
  ASSERT_NO_FATAL_FAILURE(fill());
  is_moved_ = true;
  auto worker = start("work", {"forget=1", "crashes=1000"});
  is_moved_ = false;
  auto wait_until_forgotten = [&] {
    is_moved_ = true;
    auto id = enqueue(1, {"ms=1"}).at(0);
    Inspector there{open_store()};
    EXPECT_TRUE(eventually([&] { return !there.task(id); }));
    is_moved_ = false;
  };
  EXPECT_GE(die_again_and_again("move_after_commit", wait_until_forgotten), 3);
  is_moved_ = true;
  worker.signal(SIGTERM);
  EXPECT_TRUE(worker.wait()) << worker.err();
  work_it_off({"crashes=1000"});
  expect_all_is_well({.may_be_pruned = true});
}

TEST_F(MovingStores, WhileItIsUsedLosesNothing) {
  auto enqueuer = start("enqueue", {"count=1000000", "batch=5", "pause=10", "attempts=1000"});
  std::vector<Process> workers;
  for (int i = 0; i < 2; ++i) workers.push_back(start("work", {"crashes=1000", "concurrency=2"}));
  ASSERT_TRUE(eventually([&] { return said().size() > 200; }));
  for (int deaths = 0; deaths < 3; ++deaths) {
    auto mover = start_move();
    mover.wait(std::chrono::milliseconds{50 + 100 * deaths});
    mover.kill();
  }
  ASSERT_NO_FATAL_FAILURE(finish_move());
  ASSERT_TRUE(enqueuer.wait()) << "it was told, and ended";
  EXPECT_THAT(enqueuer.err(), HasSubstr("was moved to " + open(to()).name()));
  for (auto& worker : workers) worker.signal(SIGTERM);
  for (auto& worker : workers) EXPECT_TRUE(worker.wait()) << worker.err();
  is_moved_ = true;
  work_it_off({"crashes=1000"});
  expect_all_is_well();
}

}  // namespace
}  // namespace holdfast::test
