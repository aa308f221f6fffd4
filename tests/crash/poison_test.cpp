#include <csignal>

#include "crash/crash_test.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

using Poison = CrashTest;

TEST_F(Poison, TaskThatKillsItsWorkerIsHeldWithEvidenceAndInnocentsAreNotCharged) {
  auto innocents = enqueue(15, {"ms=30"});
  auto poison = enqueue(1, {"manner=poison"}).at(0);
  for (auto id : enqueue(15, {"ms=30"})) innocents.push_back(id);

  int deaths = 0;
  for (bool done = false; !done && deaths < 20;) {
    auto worker = start("work", {"until_empty=1"});
    auto ending = worker.wait();
    ASSERT_TRUE(ending);
    done = ending->ok();
    if (!done) {
      ++deaths;
      ASSERT_EQ(ending->signal, SIGSEGV) << worker.err();
    }
  }

  auto held = record(poison);
  EXPECT_EQ(held.state, TaskState::held);
  EXPECT_EQ(held.crashes, 3);
  EXPECT_THAT(held.cause, HasSubstr("signal 11"));
  EXPECT_LE(deaths, 4) << "one beside others that proves nothing, then three alone";
  EXPECT_GE(deaths, 3);
  for (auto id : innocents) {
    auto task = record(id);
    EXPECT_EQ(task.state, TaskState::completed);
    EXPECT_EQ(task.attempt, 1);
    EXPECT_EQ(task.crashes, 0);
  }
  expect_clean({.held = {poison}});
}

TEST_F(Poison, HeldTaskRunsAgainWhenAnOperatorSaysSo) {
  auto poison = enqueue(1, {"manner=poison"}).at(0);
  for (int i = 0; i < 3; ++i) start("work", {"until_empty=1"}).wait();
  ASSERT_TRUE(eventually([&] {
    finish("recover");
    return record(poison).state == TaskState::held;
  }));
  EXPECT_EQ(Inspector{open_store()}.retry({.ids = {poison}}), 1);
  EXPECT_EQ(record(poison).crashes, 0);
  EXPECT_EQ(start("work", {"until_empty=1"}).wait()->signal, SIGSEGV);
}

}  // namespace
}  // namespace holdfast::test
