#pragma once

#include <vector>

#include "tasks/task_admin.hpp"

namespace holdfast {

/// The states that both the filter and the move are about.
std::vector<TaskState> states_to_look_for(const TaskFilter& filter, const TaskAdmin::Move& move);

}  // namespace holdfast
