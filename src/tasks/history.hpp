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

/// Some of it.
struct HistoryPart {
  std::vector<Transition> steps{};
  /// For each recorded step, how many of `steps` there are up to it. What is behind the last of
  /// these is what the task says about itself.
  std::vector<std::size_t> ends{};
};
/// What belongs to `recorded`, of which `before` is the step before; nothing: they are the first.
/// `to_the_end`: they are the last.
HistoryPart part_of_history(const TaskRecord& task, std::optional<RecordedTransition> before,
                            std::vector<RecordedTransition> recorded, bool to_the_end);

}  // namespace holdfast
