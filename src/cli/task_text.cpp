#include "cli/task_text.hpp"

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

std::string time_json(const std::optional<WallTime>& time) {
  return time ? json_string(iso8601(*time)) : std::string{};
}

std::vector<std::string> texts_of(const std::vector<TaskId>& ids) {
  std::vector<std::string> texts;
  for (const TaskId& id : ids) texts.push_back(id.text());
  return texts;
}

}  // namespace

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

std::string task_json(const TaskRecord& task) {
  return JsonObject{}
      .text("id", task.id.text())
      .text("kind", task.kind)
      .text("queue", task.queue)
      .text("state", to_string(task.state))
      .number("priority", task.priority)
      .json("payload", json_line(task.payload))
      .json("tags", json_array(task.tags))
      .json("unique_key", task.unique_key.empty() ? "" : json_string(task.unique_key))
      .json("limit_key", task.limit_key.empty() ? "" : json_string(task.limit_key))
      .json("waits_for", json_array(texts_of(task.waits_for)))
      .number("attempt", task.attempt)
      .number("max_attempts", task.max_attempts)
      .number("recoveries", task.recoveries)
      .number("crashes", task.crashes)
      .flag("suspect", task.suspect)
      .flag("cancel_requested", task.cancel_requested)
      .number("token", task.token.value)
      .json("created_at", time_json(task.created_at))
      .json("run_at", time_json(task.run_at))
      .json("claimed_at", time_json(task.claimed_at))
      .json("finished_at", time_json(task.finished_at))
      .number("timeout_ms", task.timeout.count())
      .json("worker", task.worker ? json_string(task.worker->text()) : "")
      .json("result", json_line(task.result))
      .json("error", task.error.empty() ? "" : json_string(task.error))
      .json("cause", task.cause.empty() ? "" : json_string(task.cause))
      .fraction("progress", task.progress)
      .json("progress_text", task.progress_text.empty() ? "" : json_string(task.progress_text))
      .str();
}

std::string transition_json(const Transition& step) {
  return JsonObject{}
      .json("from", step.from ? json_string(to_string(*step.from)) : "")
      .text("to", to_string(step.to))
      .text("actor", step.actor)
      .text("reason", step.reason)
      .number("token", step.token.value)
      .number("attempt", step.attempt)
      .text("at", iso8601(step.at))
      .str();
}

}  // namespace holdfast::cli
