#include <algorithm>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "cli/task_text.hpp"
#include "cli/tx_text.hpp"
#include "documents/transaction_timeline.hpp"
#include "recovery/actors.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct TxShowOptions {
  std::string id;
  bool ledger = false;
  bool watch = false;
};

void print_sheet(const Context& context, const TransactionSight& sight) {
  const auto now = wall_now();
  const auto& transaction = sight.transaction;
  auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) context.say(fmt::format("{:<12} {}", name, value));
  };
  auto time = [&](const std::optional<WallTime>& at) {
    return at ? fmt::format("{} ({})", iso8601(*at), age_text(*at, now)) : std::string{};
  };
  const auto& task = transaction.task;
  line("transaction", transaction.id);
  line("task", task.id.text());
  line("machine", transaction.machine);
  line("state", transaction.state.empty() ? "not begun" : transaction.state);
  line("status", std::string{to_string(task.state)});
  line("reason", transaction.reason);
  line("created", time(task.created_at));
  line("entered", time(transaction.entered_at));
  line("progressed", time(transaction.progressed_at));
  if (task.state == TaskState::pending) line("due", time(task.run_at));
  line("finished", time(task.finished_at));
  if (task.worker)
    line(task.state == TaskState::running ? "owner" : "last owner", task.worker->text());
  if (task.recoveries > 0)
    line("recovered", fmt::format("{} time{}", task.recoveries, task.recoveries == 1 ? "" : "s"));
  if (transaction.failures > 0)
    line("failures", fmt::format("{}, last: {}", transaction.failures, transaction.error));
  else
    line("waits for", transaction.error);
  line("error", task.error);
  line("cause", task.cause);
  if (!sight.outbox.empty()) line("unsent", fmt::format("{} messages", sight.outbox.size()));
  line("ledger", sight.ledger_error.empty() ? fmt::format("{} entries", sight.ledger.size())
                                            : sight.ledger_error);
  line("input", transaction.input);
  line("data", transaction.data);
}

/// Why it was taken back from its last worker, from the history of its task.
void print_last_recovery(const Context& context, const std::vector<Transition>& history) {
  const auto last =
      std::ranges::find(history.rbegin(), history.rend(), actors::recovery, &Transition::actor);
  if (last == history.rend()) return;
  context.say(fmt::format("{:<12} {} ({}): {}", "recovery", iso8601(last->at),
                          age_text(last->at, wall_now()), last->reason));
}

void print_gaps(const Context& context, const results::Progress& progress) {
  if (progress.silent > Millis{0})
    context.say(fmt::format("{:<12} {} of listening without anything new", "silent",
                            duration_text(progress.silent)));
  if (!progress.announced)
    context.print("\nno header yet: how many parts there will be is not known\n");
  if (progress.series.empty()) return;
  Table table{{{"SERIES"}, {"RECEIVED", true}, {"EXPECTED", true}, {"MISSING", false, true}}};
  for (const auto& each : progress.series)
    table.add(
        {each.series, std::to_string(each.received),
         each.expected < 0 ? "?" : std::to_string(each.expected),
         results::gaps_text(each.missing) +
             (each.surplus > 0 ? fmt::format(" ({} that were not announced)", each.surplus) : "")});
  context.print("\n" + table.text(context.out));
}

void print_timeline(const Context& context, const TransactionSight& sight) {
  const auto timeline = timeline_of(sight);
  if (timeline.empty()) return;
  Table table{{{"AT"}, {"EVENT"}, {"WHAT", false, true}}};
  for (const auto& each : timeline) table.add({iso8601(each.at), each.event, each.text});
  context.print("\n" + table.text(context.out));
}

void print_ledger(const Context& context, const std::vector<LedgerEntry>& ledger) {
  Table table{{{"SERIES"}, {"ORDINAL", true}, {"VALUE"}}};
  for (const auto& entry : ledger)
    table.add({entry.series, std::to_string(entry.ordinal), entry.value});
  context.print("\n" + table.text(context.out));
}

Exit run_tx_show(Context& context, const TxShowOptions& options) {
  const Engine engine = context.existing_engine();
  const TransactionInspector inspector{engine};
  return print_and_watch(context, options.watch, [&] {
    require_transaction(inspector, options.id);
    const auto sight = look_at(inspector, Inspector{engine}, options.id).value();
    if (context.json) return context.print_json(transaction_json(sight));
    print_sheet(context, sight);
    if (sight.transaction.task.recoveries > 0) print_last_recovery(context, sight.transitions);
    if (sight.is_result() && sight.ledger_error.empty()) print_gaps(context, sight.progress());
    print_timeline(context, sight);
    if (options.ledger) print_ledger(context, sight.ledger);
  });
}

}  // namespace

void add_tx_show(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TxShowOptions>();
  CLI::App* command = parent.add_subcommand(
      "show", "Show everything about a transaction, and what is missing of a result");
  command->add_option("ID", options->id, "The transaction")->required()->type_name("");
  command->add_flag("--ledger", options->ledger, "The lines of its ledger, too");
  add_watch_flag(*command, options->watch);
  chosen(*command, context, options, run_tx_show);
}

}  // namespace holdfast::cli
