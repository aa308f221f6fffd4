#include "tasks/move_states.hpp"

#include <algorithm>

namespace holdfast {

namespace {

bool contains(const std::vector<TaskState>& states, TaskState state) {
  return std::ranges::find(states, state) != states.end();
}

}  // namespace

std::vector<TaskState> states_to_look_for(const TaskFilter& filter, const TaskAdmin::Move& move) {
  std::vector<TaskState> states;
  for (int number = 0; number < task_state_count; ++number) {
    auto state = static_cast<TaskState>(number);
    if (!filter.states.empty() && !contains(filter.states, state)) continue;
    bool asked = move.ask_running && state == TaskState::running;
    if (asked || contains(move.from, state)) states.push_back(state);
  }
  return states;
}

}  // namespace holdfast
