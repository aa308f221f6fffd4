#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "cli/task_text.hpp"
#include "cli/tx_text.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct TxListOptions {
  std::string machine;
  std::vector<std::string> states;
  int limit = 50;
  bool watch = false;
};

TransactionFilter filter_of(const TxListOptions& options) {
  TransactionFilter filter{.machine = options.machine};
  for (const auto& text : options.states) {
    auto state = parse_task_state(text);
    if (!state) throw InvalidRequest{fmt::format("--status '{}' is not a state of tasks", text)};
    filter.states.push_back(*state);
  }
  return filter;
}

void print(Context& context, const std::vector<TransactionRecord>& transactions) {
  if (context.json) {
    for (const auto& each : transactions) context.print_json(transaction_json(each));
    return;
  }
  if (transactions.empty()) return context.confirm("no transactions");
  const auto now = wall_now();
  Table table{
      {{"ID"}, {"MACHINE"}, {"STATE"}, {"STATUS"}, {"AGE", true}, {"PROGRESS"}, {"REMARK"}}};
  for (const auto& each : transactions)
    table.add({each.id,
               each.machine,
               each.state.empty() ? "-" : each.state,
               {std::string{to_string(each.task.state)}, colour_of(each.task.state)},
               duration_text(now - each.task.created_at),
               each.progressed_at ? age_text(*each.progressed_at, now) : "",
               remark(each)});
  context.print(table.text(context.out));
}

Exit run_tx_list(Context& context, const TxListOptions& options) {
  const auto filter = filter_of(options);
  const TransactionInspector inspector{context.existing_engine()};
  return print_and_watch(context, options.watch,
                         [&] { print(context, inspector.list(filter, {.limit = options.limit})); });
}

}  // namespace

void add_tx_list(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TxListOptions>();
  CLI::App* command = parent.add_subcommand("list", "List transactions, newest first");
  command->add_option("--machine", options->machine, "Only those of this machine")
      ->type_name("NAME");
  command->add_option("--status", options->states, "Only in this state of their task; repeatable")
      ->allow_extra_args(false)
      ->type_name("STATE");
  command->add_option("--limit", options->limit, "At most so many; default: 50")
      ->check(CLI::Range(1, 100'000));
  add_watch_flag(*command, options->watch);
  chosen(*command, context, options, run_tx_list);
}

}  // namespace holdfast::cli
