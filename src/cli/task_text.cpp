#include "cli/task_text.hpp"

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "recovery/time_text.hpp"

namespace holdfast::cli {

TaskId parse_task_id(const std::string& text) {
  if (const auto id = TaskId::parse(text)) return *id;
  throw InvalidRequest{fmt::format(
      "'{}' is not the id of a task; ids have 26 letters and digits, as printed by 'holdfast task "
      "add' and 'holdfast task list'",
      text)};
}

std::vector<TaskId> parse_task_ids(const std::vector<std::string>& texts) {
  std::vector<TaskId> ids;
  for (const auto& text : texts) ids.push_back(parse_task_id(text));
  return ids;
}

TaskRecord require_task(const Inspector& inspector, TaskId id) {
  if (auto task = inspector.task(id)) return *std::move(task);
  throw InvalidRequest{fmt::format(
      "there is no task {} in this store; 'holdfast task list' shows what there is", id.text())};
}

Colour colour_of(TaskState state) {
  switch (state) {
    case TaskState::pending:
      return Colour::plain;
    case TaskState::running:
      return Colour::cyan;
    case TaskState::completed:
      return Colour::green;
    case TaskState::failed:
      return Colour::red;
    case TaskState::cancelled:
      return Colour::dim;
    case TaskState::blocked:
    case TaskState::held:
      return Colour::yellow;
  }
  return Colour::plain;
}

std::string remark(const TaskRecord& task, WallTime now) {
  switch (task.state) {
    case TaskState::pending:
      if (!task.error.empty())
        return fmt::format("again {}: {}", age_text(task.run_at, now), task.error);
      return task.run_at > now ? fmt::format("due {}", age_text(task.run_at, now)) : "";
    case TaskState::running:
      if (task.progress > 0 || !task.progress_text.empty())
        return fmt::format("{:.0f} % {}", task.progress * 100, task.progress_text);
      return task.cancel_requested ? "asked to stop" : "";
    case TaskState::blocked:
      return fmt::format("waits for {} task{}", task.waits_for.size(),
                         task.waits_for.size() == 1 ? "" : "s");
    case TaskState::held:
      return task.cause;
    case TaskState::failed:
      return task.error;
    case TaskState::completed:
    case TaskState::cancelled:
      return "";
  }
  return "";
}

}  // namespace holdfast::cli
