#include "cli/command.hpp"
#include "cli/task_text.hpp"
#include "documents/http_health.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

struct TaskExplainOptions {
  std::string id;
};

Exit run_task_explain(Context& context, const TaskExplainOptions& options) {
  const TaskId id = parse_task_id(options.id);
  const Inspector inspector = context.inspector();
  const TaskRecord task = require_task(inspector, id);
  const std::string sentence = explain_task(context.existing_engine(), task);
  if (context.json)
    context.print_json(JsonObject{}
                           .text("id", id.text())
                           .text("state", to_string(task.state))
                           .text("explanation", sentence)
                           .str());
  else
    context.say(sentence);
  return Exit::ok;
}

}  // namespace

void add_task_explain(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TaskExplainOptions>();
  CLI::App* command = parent.add_subcommand("explain", "Say why a task is not running");
  command->add_option("ID", options->id, "The task")->required()->type_name("");
  chosen(*command, context, options, run_task_explain);
}

}  // namespace holdfast::cli
