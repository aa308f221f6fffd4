#include "cli/command.hpp"
#include "cli/task_action.hpp"

namespace holdfast::cli {

namespace {

Exit run_task_cancel(Context& context, const ActionOptions& options) {
  return act(context, options,
             {.verb = "cancel",
              .past = "cancelled, or asked to stop where running",
              .can = "completed and cancelled tasks cannot be cancelled",
              .why_not = [](const TaskRecord& task) -> std::string {
                if (task.state != TaskState::running || !task.cancel_requested) return "";
                return "was asked to stop already; --force takes it from its worker";
              },
              .apply = [force = options.force](
                           Inspector& inspector,
                           const TaskFilter& filter) { return inspector.cancel(filter, force); }});
}

}  // namespace

void add_task_cancel(CLI::App& parent, Context& context) {
  auto options = std::make_shared<ActionOptions>();
  CLI::App* command = parent.add_subcommand("cancel", "Call tasks off; running ones are asked");
  add_action_options(*command, *options, "cancel");
  command->add_flag("--force", options->force,
                    "Take running tasks from their workers now; whatever those write is refused");
  chosen(*command, context, options, run_task_cancel);
}

}  // namespace holdfast::cli
