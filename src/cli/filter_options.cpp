#include "cli/filter_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/context.hpp"
#include "cli/duration.hpp"

namespace holdfast::cli {

namespace {

std::vector<std::string> state_names() {
  std::vector<std::string> names;
  for (int i = 0; i < task_state_count; ++i)
    names.emplace_back(to_string(static_cast<TaskState>(i)));
  return names;
}

}  // namespace

bool FilterOptions::any() const {
  return !states.empty() || !queue.empty() || !kind.empty() || !tag.empty() || priority ||
         !since.empty();
}

TaskFilter FilterOptions::filter() const {
  TaskFilter filter;
  for (const auto& state : states) filter.states.push_back(parse_task_state(state).value());
  filter.queue = queue;
  filter.kind = kind;
  filter.tag = tag;
  filter.priority = priority;
  if (!since.empty()) filter.created_since = parse_since(since, "--since", wall_now());
  return filter;
}

std::string FilterOptions::words() const {
  std::string words;
  if (!states.empty()) words += fmt::format(" with status {}", fmt::join(states, " or "));
  if (!queue.empty()) words += fmt::format(" in queue {}", queue);
  if (!kind.empty()) words += fmt::format(" of kind {}", kind);
  if (!tag.empty()) words += fmt::format(" tagged {}", tag);
  if (priority) words += fmt::format(" of priority {}", *priority);
  if (!since.empty()) words += fmt::format(" created since {}", since);
  return words;
}

void add_filter_options(CLI::App& command, FilterOptions& options) {
  command.add_option("--status,--state", options.states, "Only tasks in this state; repeatable")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(state_names()));
  command.add_option("--queue", options.queue, "Only tasks of this queue")->type_name("QUEUE");
  command.add_option("--kind", options.kind, "Only tasks of this kind")->type_name("KIND");
  command.add_option("--tag", options.tag, "Only tasks with this tag")->type_name("TAG");
  command.add_option("--priority", options.priority, "Only tasks of this priority")
      ->check(CLI::Range(highest_priority, lowest_priority));
  command.add_option("--since", options.since, "Only tasks created since a time, or ago (2h)")
      ->type_name("TIME");
}

}  // namespace holdfast::cli
