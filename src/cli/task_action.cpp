#include "cli/task_action.hpp"

#include <unistd.h>

#include <iostream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <holdfast/error.hpp>

#include "cli/task_text.hpp"
#include "documents/json.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::cli {

namespace {

std::string tasks_text(std::int64_t count) {
  return fmt::format("{} task{}", count, count == 1 ? "" : "s");
}

bool confirmed(const Context& context, const std::string& question) {
  fmt::print(stderr, "{} [y/N] ", plain(question));
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return true;
  context.confirm("nothing was changed");
  return false;
}

TaskFilter chosen_tasks(const Inspector& inspector, const ActionOptions& options,
                        const Action& action) {
  if (!options.ids.empty()) {
    if (options.filter.any() || options.all)
      throw InvalidRequest{"name tasks by their ids or by a filter, not both"};
    TaskFilter filter;
    filter.ids = parse_task_ids(options.ids);
    for (const TaskId& id : filter.ids) require_task(inspector, id);
    return filter;
  }
  if (!options.filter.any() && !options.all)
    throw InvalidRequest{fmt::format(
        "which tasks? Name their ids, or a filter such as --status failed, or --all to {} every "
        "task that can be",
        action.verb)};
  return options.filter.filter();
}

/// What is wrong with the first of the tasks that were named.
std::string why_none(const Inspector& inspector, const std::vector<TaskId>& ids,
                     const Action& action) {
  const auto task = inspector.task(ids.front());
  if (!task) return fmt::format("task {} is gone", ids.front().text());
  const std::string why = action.why_not(*task);
  if (!why.empty()) return fmt::format("task {} {}", task->id.text(), why);
  return fmt::format("task {} is {}, and {}", task->id.text(), to_string(task->state), action.can);
}

}  // namespace

void add_action_options(CLI::App& command, ActionOptions& options, const std::string& verb) {
  command.add_option("ID", options.ids, "Tasks to " + verb)->type_name("");
  add_filter_options(command, options.filter);
  command.add_flag("--all", options.all, "Every task that can be");
  command.add_flag("--yes", options.yes, "Do not ask");
}

Exit act(Context& context, const ActionOptions& options, const Action& action) {
  Inspector inspector = context.inspector();
  const TaskFilter filter = chosen_tasks(inspector, options, action);
  const bool somebody_there = ::isatty(0) == 1 && context.err.interactive;
  if (options.ids.empty() && somebody_there && !options.yes) {
    const auto matching = inspector.count(filter);
    const std::string question = fmt::format("{} {}{}, where possible?", action.verb,
                                             tasks_text(matching), options.filter.words());
    if (matching > 0 && !confirmed(context, question)) return Exit::refused;
  }
  const auto changed = action.apply(inspector, filter);
  if (changed == 0 && !options.ids.empty())
    throw InvalidRequest{
        fmt::format("nothing to {}: {}", action.verb, why_none(inspector, filter.ids, action))};
  if (context.json) context.print_json(JsonObject{}.number("changed", changed).str());
  if (!context.json) context.confirm(fmt::format("{} {}", tasks_text(changed), action.past));
  return Exit::ok;
}

}  // namespace holdfast::cli
