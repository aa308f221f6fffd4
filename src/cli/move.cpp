#include <fmt/format.h>

#include <holdfast/batches.hpp>
#include <holdfast/error.hpp>
#include <holdfast/state_machine.hpp>
#include <holdfast/transaction_inspector.hpp>

#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "documents/json.hpp"
#include "tasks/store_move.hpp"
#include "transactions/take_along.hpp"

namespace holdfast::cli {

namespace {

struct StoreMoveOptions {
  std::string from;
  std::string to;
  bool finished = false;
  std::string patience = "60s";
};

void say(Context& context, const std::string& from, const std::string& to, const MoveResult& done) {
  context.confirm(fmt::format("{} tasks were taken from {}, and {} has all {} of them", done.moved,
                              from, to, done.moved));
  if (done.finished > 0) context.confirm(fmt::format("{} finished ones, too", done.finished));
  if (done.schedules > 0 || done.limits > 0)
    context.confirm(fmt::format("{} schedules and {} limits", done.schedules, done.limits));
  context.confirm(fmt::format("{} was closed for {:.1f} s when they could start again", from,
                              static_cast<double>(done.closed_for.count()) / 1'000));
  context.confirm("start workers there; who enqueues at the old address is told the new one");
}

std::vector<BatchRecord> batches_of(const Engine& engine, std::vector<BatchStatus> statuses) {
  if (!engine.parts().batch_store()) return {};
  return Batches{engine}.list({.statuses = std::move(statuses), .count_rows = false});
}

/// Batches are not moved.
std::string objection_of_batches(const Engine& from) {
  auto open = batches_of(from, {BatchStatus::wait, BatchStatus::queued, BatchStatus::inprog});
  if (open.empty()) return {};
  return fmt::format(
      "{} has batches that have not ended, and batches cannot be moved: let them end, or abort "
      "them, "
      "and move the store then. One is {}",
      from.name(), open.front().id.text());
}

/// A transaction that listens runs as long as its worker does, so nobody need wait for its end.
std::string objection_of_transactions(const Engine& from, const Engine& to) {
  auto count = [&](std::vector<TaskState> states) {
    return Inspector{from}.count({.states = std::move(states), .kind = transaction_kind});
  };
  if (count({}) == 0) return {};
  try {
    TransactionInspector{to}.list({}, {.limit = 1});
  } catch (const InvalidRequest& error) {
    return error.what();  // an engine that has none
  }
  auto running = count({TaskState::running});
  if (running == 0) return {};
  return fmt::format(
      "{} transactions are running in {}; those that listen do so as long as their workers: stop "
      "these workers (SIGTERM) and move the store then",
      running, from.name());
}

std::string objection(const Engine& from, const Engine& to) {
  auto why = objection_of_batches(from);
  return why.empty() ? objection_of_transactions(from, to) : why;
}

Exit run_move(Context& context, const StoreMoveOptions& options) {
  MoveOptions how{.finished = options.finished,
                  .patience = parse_duration(options.patience, "--patience")};
  context.store_option = options.from;
  const auto from = context.existing_engine();
  const auto to = open(options.to, context.config().settings);
  how.objection = [&] { return objection(from, to); };
  how.take_along = [&](const auto& tasks) { take_transactions_along(from, to, tasks); };
  StoreMove move{from, to, how, [&](const std::string& line) {
                   if (!context.json) context.confirm(line);
                 }};
  const auto done = move.run();
  if (context.json) {
    context.print_json(JsonObject{}
                           .number("moved", done.moved)
                           .number("finished", done.finished)
                           .number("schedules", done.schedules)
                           .number("limits", done.limits)
                           .number("left", std::ssize(done.left))
                           .number("closed_ms", done.closed_for.count())
                           .str());
  } else {
    say(context, from.name(), to.name(), done);
    if (!batches_of(from, {}).empty())
      context.confirm(fmt::format("batches, which have ended, stay in {}", from.name()));
  }
  if (done.left.empty()) return Exit::ok;
  throw InvalidRequest{fmt::format(
      "{} tasks are held in {}, because unfinished tasks in {} have their unique keys: let those "
      "end and run the move again. The first is {}",
      done.left.size(), from.name(), to.name(), done.left.front().text())};
}

}  // namespace

void add_move(CLI::App& parent, Context& context) {
  auto options = std::make_shared<StoreMoveOptions>();
  CLI::App* command =
      parent.add_subcommand("move", "Move everything in a store to another one, while it is used");
  command->add_option("--from", options->from, "The store as it is")->required()->type_name("URL");
  command->add_option("--to", options->to, "Where it is to be")->required()->type_name("URL");
  command->add_flag("--finished", options->finished, "Completed and cancelled tasks, too");
  command
      ->add_option("--patience", options->patience,
                   "How long to wait for running tasks to end (default 60s)")
      ->type_name("TIME");
  chosen(*command, context, options, run_move);
}

}  // namespace holdfast::cli
