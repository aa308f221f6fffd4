#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include <holdfast/task.hpp>

namespace holdfast {

/// Who moves a task from one state to another.
enum class Mover : std::uint8_t {
  worker,      ///< claims it and settles it, naming its token
  recovery,    ///< takes it back from a worker that is dead or silent
  dependency,  ///< another task that it waits for came to its end
  person,      ///< an operator, through the Inspector
};

struct AllowedTransition {
  TaskState from;
  TaskState to;
  Mover by;
};

/// Every way a task can go. docs/task-states.md shows the same table and says when each happens.
/// Completed has no way out.
inline constexpr std::array allowed_transitions = {
    AllowedTransition{TaskState::pending, TaskState::running, Mover::worker},
    AllowedTransition{TaskState::pending, TaskState::held, Mover::person},
    AllowedTransition{TaskState::pending, TaskState::cancelled, Mover::person},
    AllowedTransition{TaskState::running, TaskState::completed, Mover::worker},
    AllowedTransition{TaskState::running, TaskState::pending, Mover::worker},
    AllowedTransition{TaskState::running, TaskState::failed, Mover::worker},
    AllowedTransition{TaskState::running, TaskState::held, Mover::worker},
    AllowedTransition{TaskState::running, TaskState::cancelled, Mover::worker},
    AllowedTransition{TaskState::running, TaskState::pending, Mover::recovery},
    AllowedTransition{TaskState::running, TaskState::failed, Mover::recovery},
    AllowedTransition{TaskState::running, TaskState::held, Mover::recovery},
    AllowedTransition{TaskState::running, TaskState::cancelled, Mover::recovery},
    AllowedTransition{TaskState::running, TaskState::cancelled, Mover::person},
    AllowedTransition{TaskState::blocked, TaskState::pending, Mover::dependency},
    AllowedTransition{TaskState::blocked, TaskState::cancelled, Mover::dependency},
    AllowedTransition{TaskState::blocked, TaskState::held, Mover::person},
    AllowedTransition{TaskState::blocked, TaskState::cancelled, Mover::person},
    AllowedTransition{TaskState::held, TaskState::pending, Mover::person},
    AllowedTransition{TaskState::held, TaskState::blocked, Mover::person},
    AllowedTransition{TaskState::held, TaskState::cancelled, Mover::person},
    AllowedTransition{TaskState::failed, TaskState::pending, Mover::person},
    AllowedTransition{TaskState::failed, TaskState::cancelled, Mover::person},
    AllowedTransition{TaskState::cancelled, TaskState::pending, Mover::person},
    AllowedTransition{TaskState::cancelled, TaskState::blocked, Mover::person},
};

/// What a task may be when it comes into being.
inline constexpr std::array initial_states = {TaskState::pending, TaskState::blocked};

constexpr bool allowed(TaskState from, TaskState to) {
  return std::ranges::any_of(allowed_transitions,
                             [&](const auto& row) { return row.from == from && row.to == to; });
}

constexpr bool allowed(TaskState from, TaskState to, Mover by) {
  return std::ranges::any_of(allowed_transitions, [&](const auto& row) {
    return row.from == from && row.to == to && row.by == by;
  });
}

/// Nothing but an operator moves a task on from here.
constexpr bool is_finished(TaskState state) {
  return state == TaskState::completed || state == TaskState::failed ||
         state == TaskState::cancelled;
}

constexpr std::string_view to_string(Mover mover) {
  constexpr std::array<std::string_view, 4> names = {"worker", "recovery", "dependency",
                                                     "operator"};
  return names[static_cast<std::size_t>(mover)];
}

namespace transition_checks {

constexpr auto reachable_states() {
  std::array<bool, task_state_count> reached{};
  for (auto state : initial_states) reached[static_cast<std::size_t>(state)] = true;
  for (int round = 0; round < task_state_count; ++round) {
    for (const auto& row : allowed_transitions) {
      if (reached[static_cast<std::size_t>(row.from)])
        reached[static_cast<std::size_t>(row.to)] = true;
    }
  }
  return reached;
}

constexpr bool has_way_out(TaskState from) {
  return std::ranges::any_of(allowed_transitions,
                             [&](const auto& row) { return row.from == from; });
}

/// Whether an unfinished task in this state gets on without an operator.
constexpr bool moves_by_itself(TaskState from) {
  return std::ranges::any_of(allowed_transitions, [&](const auto& row) {
    return row.from == from && row.by != Mover::person;
  });
}

constexpr bool no_row_twice() {
  for (const auto& row : allowed_transitions) {
    if (std::ranges::count_if(allowed_transitions, [&](const auto& other) {
          return other.from == row.from && other.to == row.to && other.by == row.by;
        }) != 1)
      return false;
  }
  return true;
}

static_assert(std::ranges::all_of(reachable_states(), [](bool reached) { return reached; }));
static_assert(no_row_twice());
static_assert(!has_way_out(TaskState::completed), "completed is final");
static_assert(has_way_out(TaskState::failed), "dead letters can be redriven");
static_assert(moves_by_itself(TaskState::pending) && moves_by_itself(TaskState::running) &&
              moves_by_itself(TaskState::blocked));
static_assert(has_way_out(TaskState::held) && !moves_by_itself(TaskState::held),
              "held waits for a person, and a person can release it");
static_assert(std::ranges::all_of(allowed_transitions,
                                  [](const auto& row) {
                                    return row.by != Mover::recovery ||
                                           row.from == TaskState::running;
                                  }),
              "recovery touches running work only");
static_assert(!allowed(TaskState::running, TaskState::completed, Mover::recovery) &&
                  !allowed(TaskState::running, TaskState::completed, Mover::person),
              "only the worker that did the work can say that it is done");

}  // namespace transition_checks

}  // namespace holdfast
