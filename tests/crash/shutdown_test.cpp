#include <csignal>

#include "crash/crash_test.hpp"

namespace holdfast::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;

class Shutdown : public CrashTest {
 protected:
  void expect_given_back(TaskId id) {
    auto task = record(id);
    EXPECT_EQ(task.state, TaskState::pending);
    EXPECT_EQ(task.attempt, 0);
    EXPECT_EQ(task.crashes, 0);
    EXPECT_EQ(task.recoveries, 0);
    EXPECT_FALSE(task.suspect);
  }
};

TEST_F(Shutdown, DrainFinishesWhatRunsAndLeavesTheRest) {
  auto ids = enqueue(20, {"ms=400"});
  auto worker = start("work", {"concurrency=2"});
  ASSERT_TRUE(comes_to(Said::started, ids[0]));
  worker.signal(SIGTERM);
  auto ending = worker.wait();
  ASSERT_TRUE(ending && ending->ok()) << worker.err();
  EXPECT_EQ(record(ids[0]).state, TaskState::completed);
  expect_given_back(ids[19]);
  work_it_off({"concurrency=20"});
  expect_clean();
}

TEST_F(Shutdown, ThreadsThatWereThereBeforeDoNotKeepItFromDraining) {
  auto ids = enqueue(20, {"ms=400"});
  auto worker = start("work", {"concurrency=2", "metrics=1"});
  ASSERT_TRUE(comes_to(Said::started, ids[0]));
  worker.signal(SIGTERM);
  auto ending = worker.wait();
  ASSERT_TRUE(ending && ending->ok()) << worker.err();
  EXPECT_EQ(record(ids[0]).state, TaskState::completed);
  expect_given_back(ids[19]);
}

TEST_F(Shutdown, SecondSignalHurriesAndNothingIsCharged) {
  auto ids = enqueue(2, {"ms=60000"});
  auto worker = start("work", {"concurrency=2"});
  for (auto id : ids) ASSERT_TRUE(comes_to(Said::started, id));
  worker.signal(SIGTERM);
  EXPECT_FALSE(worker.wait(milliseconds{300})) << "drains while handlers run";
  worker.signal(SIGTERM);
  auto ending = worker.wait(seconds{10});
  ASSERT_TRUE(ending && ending->ok()) << worker.err();
  EXPECT_THAT(worker.out(), HasSubstr("given_back 2"));
  for (auto id : ids) expect_given_back(id);
}

TEST_F(Shutdown, DrainEndsAfterItsTimeAndNothingIsCharged) {
  auto id = enqueue(1, {"ms=60000"}).at(0);
  auto worker = start("work", {"drain=200"});
  ASSERT_TRUE(comes_to(Said::started, id));
  worker.signal(SIGTERM);
  auto ending = worker.wait(seconds{10});
  ASSERT_TRUE(ending && ending->ok()) << worker.err();
  expect_given_back(id);
}

TEST_F(Shutdown, WorkerThatCannotRenewStopsItsHandlersBeforeTheLeaseEnds) {
  auto id = enqueue(1, {"ms=60000"}).at(0);
  auto worker = start("work", {"interval=500"});
  ASSERT_TRUE(comes_to(Said::started, id));
  auto holder = start("hold_lock");
  ASSERT_TRUE(eventually([&] { return holder.out() == "locked\n"; }));
  auto locked = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
  ASSERT_TRUE(comes_to(Said::returned, id));
  for (const auto& line : said()) {
    if (line.said == Said::returned) {
      EXPECT_LT(line.at - locked, milliseconds{3 * 500});
    }
  }
  // The store comes back; the worker was alive all along and goes on.
  holder.kill();
  auto next = enqueue(1, {"ms=1"}).at(0);
  EXPECT_TRUE(comes_to(Said::settled, next)) << worker.err();
  EXPECT_EQ(record(id).crashes, 0);
}

TEST_F(Shutdown, TenProcessesRecoverAtOnceAndEachOrphanIsTakenBackOnce) {
  auto ids = enqueue(300, {"ms=500", "batch=300"});
  auto victim = start("work", {"concurrency=300"});
  ASSERT_TRUE(comes_to(Said::started, ids[0]));
  victim.kill();
  std::vector<Process> recoverers;
  for (int i = 0; i < 10; ++i) recoverers.push_back(start("recover"));
  for (auto& each : recoverers) {
    auto ending = each.wait();
    ASSERT_TRUE(ending && ending->ok()) << each.err();
  }
  for (const auto& task : view_store(open_store()).tasks) {
    EXPECT_EQ(task.state, TaskState::pending);
    EXPECT_LE(task.recoveries, 1);
  }
  EXPECT_EQ(record(ids[0]).recoveries, 1);
  Inspector{open_store()}.cancel({});  // three hundred suspects, one after another, take long
  expect_clean();
}

}  // namespace
}  // namespace holdfast::test
