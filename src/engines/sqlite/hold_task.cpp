#include "engines/sqlite/hold_task.hpp"

#include "engines/sqlite/task_change.hpp"

namespace holdfast::sqlite {

std::optional<TaskId> hold_task(Connection& db, std::int64_t seq, std::string_view actor,
                                const std::string& cause, WallTime now) {
  const auto task = find_task(db, seq);
  if (!task || task->row.state == TaskState::held) return {};
  const auto token_floor = now.time_since_epoch().count() * 1000;
  apply_change(db, *task, lifecycle::hold(task->row, actor, cause, now), token_floor);
  return task->row.id;
}

}  // namespace holdfast::sqlite
