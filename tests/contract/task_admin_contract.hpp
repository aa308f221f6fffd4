#pragma once

#include "contract/store_under_test.hpp"

namespace holdfast::test {

/// What `TaskAdmin` promises.
class TaskAdminContract : public StoreContract {
 protected:
  TaskAdmin& admin() { return engine().admin(); }

  std::vector<TaskId> ids(const TaskFilter& filter, const TaskPage& page = {});
  std::int64_t cancel(TaskId id);
  std::int64_t force_cancel(TaskId id);
  std::int64_t retry(TaskId id);
  std::int64_t hold(TaskId id, const std::string& cause);
  /// A task that used up an attempt and became a dead letter.
  TaskId failed_task(TaskOptions options = {});
  TaskId completed_task();
  QueueStatus queue(const std::string& name);
};

}  // namespace holdfast::test
