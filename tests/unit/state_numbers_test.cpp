#include "tasks/state_numbers.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tasks/transitions.hpp"

namespace holdfast {
namespace {

TEST(StateNumbers, EachNameBecomesItsNumber) {
  for (int number = 0; number < task_state_count; ++number) {
    const auto name = to_string(static_cast<TaskState>(number));
    EXPECT_EQ(with_state_numbers(fmt::format("state = {{{0}}} OR {{{0}}}", name)),
              fmt::format("state = {0} OR {0}", number));
  }
}

/// In the order in which the conditions of indexes have them: SQLite compares their texts.
TEST(StateNumbers, SetsBecomeLists) {
  EXPECT_EQ(with_state_numbers("state IN {finished}"), "state IN (2, 3, 4)");
  EXPECT_EQ(with_state_numbers("state IN {unfinished}"), "state IN (0, 1, 5, 6)");
}

TEST(StateNumbers, EverythingElseStays) {
  EXPECT_EQ(with_state_numbers("{wall} {} 'held' {held"), "{wall} {} 'held' {held");
}

}  // namespace
}  // namespace holdfast
