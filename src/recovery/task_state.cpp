#include <array>

#include <holdfast/task.hpp>

namespace holdfast {

namespace {

constexpr std::array<std::string_view, task_state_count> names = {
    "pending", "running", "completed", "failed", "cancelled", "blocked", "held"};
static_assert(names[static_cast<std::size_t>(TaskState::held)] == "held");

}  // namespace

std::string_view to_string(TaskState state) { return names.at(static_cast<std::size_t>(state)); }

std::optional<TaskState> parse_task_state(std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<TaskState>(i);
  }
  return {};
}

}  // namespace holdfast
