#include "documents/task_json.hpp"

#include "documents/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast {

namespace {

std::vector<std::string> texts_of(const std::vector<TaskId>& ids) {
  std::vector<std::string> texts;
  for (const TaskId& id : ids) texts.push_back(id.text());
  return texts;
}

}  // namespace

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

std::string task_json(const TaskRecord& task, const std::vector<Transition>& history) {
  std::vector<std::string> steps;
  for (const Transition& step : history) steps.push_back(transition_json(step));
  std::string document = task_json(task);
  document.pop_back();
  return document + ",\"history\":" + json_list(steps) + "}";
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

std::string log_line_json(const LogLine& line) {
  return JsonObject{}
      .text("at", iso8601(line.at))
      .number("attempt", line.attempt)
      .text("text", line.text)
      .str();
}

}  // namespace holdfast
