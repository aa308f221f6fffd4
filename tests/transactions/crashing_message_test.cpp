#include <csignal>

#include "transactions/results_scenario.hpp"

namespace holdfast::test {
namespace {

/// Of a queue that hands them out in the same order every time, so that each crash is of the same
/// one.
class CrashingMessages : public ResultsScenario {};

TEST_F(CrashingMessages, BecomeDeadLettersAndTheOthersDoNot) {
  start("tx");
  broker_->declare(results::header_queue("tx"));
  broker_->declare(results::payload_queue("tx"));
  for (int i = 1; i <= 3; ++i) broker_->publish(part_message("tx", "A", i, "part"));
  const auto command = command_of(HOLDFAST_PROGRAM, {"--until-empty", "--threads", "1"});
  for (int deaths = 0; deaths < 20 && messages_in(dead_letter_queue) <= 0; ++deaths) {
    auto died = test::run(command, {{"HOLDFAST_CRASH_AT", "blob_before_link"}});
    ASSERT_EQ(died.ending.signal, SIGILL) << deaths << died.err;
  }
  auto reasons = reasons_of_dead_letters(1);
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_THAT(reasons[0], testing::HasSubstr("the process crashed 2 times"));
  EXPECT_THAT(inspector_.find("tx")->task.state,
              testing::AnyOf(TaskState::pending, TaskState::running))
      << "the others are still to come";
  EXPECT_EQ(inspector_.ledger("tx").size(), 0u);
}

}  // namespace
}  // namespace holdfast::test
