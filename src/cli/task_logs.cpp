#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/task_text.hpp"
#include "documents/task_json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct TaskLogsOptions {
  std::string id;
};

Exit run_task_logs(Context& context, const TaskLogsOptions& options) {
  const TaskId id = parse_task_id(options.id);
  const Inspector inspector = context.inspector();
  require_task(inspector, id);
  for (const LogLine& line : inspector.logs(id)) {
    if (context.json)
      context.print_json(log_line_json(line));
    else
      context.say(fmt::format("{}  #{}  {}", iso8601(line.at), line.attempt, line.text));
  }
  return Exit::ok;
}

}  // namespace

void add_task_logs(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TaskLogsOptions>();
  CLI::App* command = parent.add_subcommand("logs", "Print the log lines of a task");
  command->add_option("ID", options->id, "The task")->required()->type_name("");
  chosen(*command, context, options, run_task_logs);
}

}  // namespace holdfast::cli
