#include "cli/task_options.hpp"

#include <CLI/CLI.hpp>

namespace holdfast::cli {

void add_place_options(CLI::App& command, TaskOptions& task) {
  command.add_option("--queue", task.queue, "Queue; default: default")->type_name("QUEUE");
  command.add_option("--priority", task.priority, "1 (first) to 5 (last); default: 3")
      ->check(CLI::Range(highest_priority, lowest_priority));
  command
      .add_option("--unique", task.unique_key,
                  "At most one unfinished task has this key; prints the id of that one")
      ->type_name("KEY");
  command
      .add_option("--limit-key", task.limit_key,
                  "Whose task it is, such as a tenant's; see 'holdfast limit'")
      ->type_name("KEY");
  command.add_option("--tag", task.tags, "A tag to search by; repeatable")
      ->allow_extra_args(false)
      ->type_name("TAG");
}

void add_task_options(CLI::App& command, TaskOptions& task) {
  add_place_options(command, task);
  command
      .add_option("--max-attempts", task.max_attempts,
                  "Failures after which it becomes a dead letter; default: 3")
      ->check(CLI::Range(1, 1'000));
}

}  // namespace holdfast::cli
