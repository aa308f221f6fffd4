#pragma once

#include "engines/sqlite/store.hpp"
#include "tasks/task_admin.hpp"

namespace holdfast::sqlite {

struct Moved {
  std::int64_t count = 0;
  bool ready = false;    ///< some may run now
  bool stopped = false;  ///< some that are running are to stop
  /// If somebody wants to know: every one that changed, those that waited for them included.
  std::vector<TaskChanged> changes{};
};

/// Finds the tasks, then moves them a thousand to a transaction; each is checked again there.
Moved move_tasks(Store& store, const TaskFilter& filter, const TaskAdmin::Move& move);

}  // namespace holdfast::sqlite
