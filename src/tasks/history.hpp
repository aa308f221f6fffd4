#pragma once

#include <vector>

#include "tasks/task_admin.hpp"

namespace holdfast {

/// The whole life of a task, oldest step first. Stores record only what is unusual; the plain steps
/// (created, claimed, completed) are derived from the task and from the recorded steps.
///
/// Attempts that were given back or snoozed leave no trace. The token of a derived claim is 0 where
/// the recorded step that ended it does not name it.
std::vector<Transition> full_history(const TaskRecord& task,
                                     std::vector<RecordedTransition> recorded);

}  // namespace holdfast
