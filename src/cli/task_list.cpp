#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/filter_options.hpp"
#include "cli/table.hpp"
#include "cli/task_text.hpp"
#include "documents/task_json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct TaskListOptions {
  FilterOptions filter;
  TaskPage page;
  bool reverse = false;
};

void print_table(Context& context, const std::vector<TaskRecord>& tasks, WallTime now) {
  Table table{{{"ID"},
               {"STATE"},
               {"KIND"},
               {"QUEUE"},
               {"PRI", true},
               {"ATTEMPT", true},
               {"CREATED"},
               {"REMARK"}}};
  for (const TaskRecord& task : tasks)
    table.add({task.id.text(),
               {std::string{to_string(task.state)}, colour_of(task.state)},
               task.kind,
               task.queue,
               std::to_string(task.priority),
               fmt::format("{}/{}", task.attempt, task.max_attempts),
               age_text(task.created_at, now),
               remark(task, now)});
  context.print(table.text(context.out));
}

Exit run_task_list(Context& context, const TaskListOptions& options) {
  const TaskFilter filter = options.filter.filter();
  TaskPage page = options.page;
  page.newest_first = !options.reverse;
  const Inspector inspector = context.inspector();
  const auto tasks = inspector.tasks(filter, page);
  if (context.json) {
    for (const TaskRecord& task : tasks) context.print_json(task_json(task));
    return Exit::ok;
  }
  if (!tasks.empty()) print_table(context, tasks, wall_now());
  const auto matching = inspector.count(filter);
  if (tasks.empty())
    context.confirm(fmt::format("no tasks{}", matching > 0 ? " on this page" : ""));
  else if (context.out.interactive && matching > static_cast<std::int64_t>(tasks.size()))
    context.confirm(
        fmt::format("{} of {} tasks; more with --limit and --offset", tasks.size(), matching));
  return Exit::ok;
}

}  // namespace

void add_task_list(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TaskListOptions>();
  CLI::App* command = parent.add_subcommand("list", "List tasks, newest first");
  add_filter_options(*command, options->filter);
  command->add_option("--limit", options->page.limit, "At most so many; default: 50")
      ->check(CLI::Range(1, 100'000));
  command->add_option("--offset", options->page.offset, "Skip so many; default: 0")
      ->check(CLI::Range(0, 1'000'000'000));
  command->add_flag("--reverse", options->reverse, "Oldest first");
  chosen(*command, context, options, run_task_list);
}

}  // namespace holdfast::cli
