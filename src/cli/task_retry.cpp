#include "cli/command.hpp"
#include "cli/task_action.hpp"

namespace holdfast::cli {

namespace {

Exit run_task_retry(Context& context, const ActionOptions& options) {
  return act(context, options,
             {.verb = "retry",
              .past = "will run again",
              .can = "only failed, held and cancelled tasks can be retried",
              .why_not = [](const TaskRecord& task) -> std::string {
                const bool could = task.state == TaskState::failed ||
                                   task.state == TaskState::held ||
                                   task.state == TaskState::cancelled;
                if (!could || task.unique_key.empty()) return "";
                return "has the unique key '" + task.unique_key +
                       "', which another unfinished task has by now";
              },
              .apply = [](Inspector& inspector,
                          const TaskFilter& filter) { return inspector.retry(filter); }});
}

}  // namespace

void add_task_retry(CLI::App& parent, Context& context) {
  auto options = std::make_shared<ActionOptions>();
  CLI::App* command =
      parent.add_subcommand("retry", "Run failed, held or cancelled tasks again, afresh");
  add_action_options(*command, *options, "retry");
  chosen(*command, context, options, run_task_retry);
}

}  // namespace holdfast::cli
