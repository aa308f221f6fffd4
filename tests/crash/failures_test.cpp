#include "crash/crash_test.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

using Failures = CrashTest;

TEST_F(Failures, AreRetriedOrBecomeDeadLettersAndNothingElse) {
  auto flaky = enqueue(5, {"ms=0", "manner=flaky"});
  auto doomed = enqueue(5, {"ms=0", "manner=doomed"});
  work_it_off();
  for (auto id : flaky) {
    EXPECT_EQ(record(id).state, TaskState::completed);
    EXPECT_EQ(record(id).attempt, 2);
  }
  for (auto id : doomed) {
    EXPECT_EQ(record(id).state, TaskState::failed);
    EXPECT_EQ(record(id).attempt, 1);
  }
  expect_clean();
}

TEST_F(Failures, FollowUpThatCannotBeFailsItsTaskAndNobodyElse) {
  auto hopeful = enqueue(3, {"ms=0", "manner=hopeful"});
  auto plain = enqueue(20, {"ms=0"});
  work_it_off();
  for (auto id : hopeful) {
    EXPECT_EQ(record(id).state, TaskState::failed);
    EXPECT_THAT(record(id).error, HasSubstr("cannot wait for task"));
  }
  for (auto id : plain) EXPECT_EQ(record(id).state, TaskState::completed);
  expect_clean();
}

}  // namespace
}  // namespace holdfast::test
