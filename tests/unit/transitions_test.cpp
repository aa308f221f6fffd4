#include "tasks/transitions.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

namespace holdfast {
namespace {

std::string row_text(std::string_view from, std::string_view to, std::string_view by) {
  return fmt::format("{} -> {} by {}", from, to, by);
}

std::string trimmed(std::string cell) {
  std::erase_if(cell, [](char c) { return c == ' ' || c == '`'; });
  return cell;
}

/// The rows of the table in the document that has the columns from, to, by, when.
std::vector<std::string> documented_rows() {
  std::ifstream page{HOLDFAST_SOURCE_DIR "/docs/task-states.md"};
  std::vector<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| from | to | by |")) {
      inside = true;
    } else if (inside && line.starts_with("| `")) {
      std::istringstream cells{line};
      std::string nothing, from, to, by;
      std::getline(cells, nothing, '|');
      std::getline(cells, from, '|');
      std::getline(cells, to, '|');
      std::getline(cells, by, '|');
      rows.push_back(row_text(trimmed(from), trimmed(to), trimmed(by)));
    } else if (inside && line.empty()) {
      inside = false;
    }
  }
  return rows;
}

TEST(Transitions, TheDocumentShowsTheTableThatTheCompilerChecks) {
  std::vector<std::string> coded;
  for (const auto& row : allowed_transitions)
    coded.push_back(row_text(to_string(row.from), to_string(row.to), to_string(row.by)));
  EXPECT_THAT(documented_rows(), testing::ElementsAreArray(coded));
}

TEST(Transitions, EveryStateIsReadBackFromItsName) {
  for (int i = 0; i < task_state_count; ++i) {
    auto state = static_cast<TaskState>(i);
    EXPECT_EQ(parse_task_state(to_string(state)), state);
  }
  EXPECT_FALSE(parse_task_state("Running"));
  EXPECT_FALSE(parse_task_state(""));
}

TEST(Transitions, ACompletedTaskStaysCompleted) {
  for (int i = 0; i < task_state_count; ++i)
    EXPECT_FALSE(allowed(TaskState::completed, static_cast<TaskState>(i)));
}

TEST(Transitions, ARunningTaskIsHeldByRecoveryOrItsOwnHandlerOnly) {
  EXPECT_TRUE(allowed(TaskState::running, TaskState::held, Mover::recovery));
  EXPECT_TRUE(allowed(TaskState::running, TaskState::held, Mover::worker));
  EXPECT_FALSE(allowed(TaskState::running, TaskState::held, Mover::person));
}

TEST(Transitions, ABlockedTaskCannotBeClaimed) {
  EXPECT_FALSE(allowed(TaskState::blocked, TaskState::running));
  EXPECT_FALSE(allowed(TaskState::held, TaskState::running));
  EXPECT_TRUE(allowed(TaskState::pending, TaskState::running));
}

}  // namespace
}  // namespace holdfast
