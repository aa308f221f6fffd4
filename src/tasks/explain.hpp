#pragma once

#include <string>
#include <vector>

#include <holdfast/inspector.hpp>
#include <holdfast/limit.hpp>

namespace holdfast {

/// What is around a task that decides whether it can run.
struct Circumstances {
  bool queue_paused = false;
  std::string being_moved_to{};  ///< empty: it is not
  std::vector<WorkerStatus> workers{};
  WallTime now{};
  std::vector<TaskRecord> dependencies{};  ///< those that it still waits for
  std::vector<LimitStatus> limits{};
};

/// One sentence on why the task is not running, or what it is doing, and what a person could do.
std::string explain(const TaskRecord& task, const Circumstances& around);

}  // namespace holdfast
