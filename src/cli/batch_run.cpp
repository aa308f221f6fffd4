#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/batch_commands.hpp"
#include "cli/batch_text.hpp"
#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/interrupts.hpp"
#include "cli/json.hpp"
#include "cli/report_text.hpp"
#include "cli/row_program.hpp"

namespace holdfast::cli {

namespace {

struct Options {
  std::string line, app, output, unclaimed;
  std::vector<std::string> ops;
  int attempts = 3;
  WorkerOptions worker;
};

struct RecoverOptions {
  std::string unclaimed;
};

Millis time_or_never(const std::string& text) {
  return text.empty() ? Millis{0} : parse_duration(text, "--queue-unclaimed-after");
}

void add_unclaimed(CLI::App& command, std::string& unclaimed) {
  command
      .add_option("--queue-unclaimed-after", unclaimed,
                  "Queue rows again that workers of another make left in progress, when they have "
                  "been known for so long; default: never")
      ->type_name("DURATION");
}

void print_summary(const Context& context, const WorkerSummary& summary) {
  if (context.json)
    context.print_json(JsonObject{}
                           .number("done", summary.completed)
                           .number("failed_attempts", summary.failed_attempts)
                           .number("given_back", summary.given_back)
                           .number("refused", summary.refused)
                           .str());
  else
    context.confirm(fmt::format(
        "{} rows and summaries done, {} failed attempts, {} given back, {} stale "
        "writes refused",
        summary.completed, summary.failed_attempts, summary.given_back, summary.refused));
}

void wind_down(Worker& worker, const Context& context, int count) {
  if (count > 2) ::_exit(static_cast<int>(Exit::interrupted));
  if (!context.quiet)
    fmt::print(stderr, "holdfast: {}\n",
               count == 1 ? "finishing the rows that are begun; once more to give them back now"
                          : "stopping, and giving back what is begun");
  count == 1 ? worker.drain() : worker.hurry();
}

Exit run(Context& context, const Options& options) {
  Interrupts interrupts;
  RowProgram program{options.line};
  const Engine engine = context.engine(Stay::lasting);
  log_to_stderr(engine, context.quiet ? Severity::warning : Severity::info);
  Batches batches{engine,
                  {.blobs = output_store(context, options.output),
                   .max_attempts = options.attempts,
                   .queue_unclaimed_after = time_or_never(options.unclaimed)}};
  for (const auto& op : options.ops)
    batches.on(options.app, op, [&](const RowAttempt& row) { return program.process(row); });
  Worker worker{batches.work(), options.worker};
  const InterruptWatch watch{interrupts, [&](int count) { wind_down(worker, context, count); }};
  print_summary(context, worker.run());
  return interrupts.first() == SIGINT ? Exit::interrupted : Exit::ok;
}

Exit recover(Context& context, const RecoverOptions& options) {
  Interrupts interrupts;
  std::stop_source stop;
  const InterruptWatch watch{interrupts, [&](int) { stop.request_stop(); }};
  Batches batches{context.existing_engine(Stay::thorough),
                  {.queue_unclaimed_after = time_or_never(options.unclaimed)}};
  print_report(context, batches.recover(stop.get_token()));
  return stop.stop_requested() ? Exit::interrupted : Exit::ok;
}

}  // namespace

void add_batch_run(CLI::App& parent, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = parent.add_subcommand("run", "Process rows with a program");
  command
      ->add_option("--exec", options->line,
                   "Shell command that gets rows as lines of JSON and answers each with a line")
      ->required()
      ->type_name("CMD");
  command->add_option("--app", options->app, "Application")->required()->type_name("APP");
  command->add_option("--op", options->ops, "Operation; repeatable")
      ->required()
      ->allow_extra_args(false)
      ->type_name("OP");
  command->add_option("--output", options->output, "Where output files go, such as dir:FOLDER")
      ->type_name("URL");
  command
      ->add_option("--attempts", options->attempts,
                   "So often a row is begun before it fails; default: 3")
      ->check(CLI::Range(1, 1'000));
  command
      ->add_option("--concurrency", options->worker.concurrency,
                   "So many programs at once; default: the configuration's, else one for each core")
      ->check(CLI::Range(1, 4'096));
  add_unclaimed(*command, options->unclaimed);
  command->add_flag("--until-empty", options->worker.until_empty,
                    "End when nothing is left to process");
  chosen(*command, context, options, run);
}

void add_batch_recover(CLI::App& parent, Context& context) {
  auto options = std::make_shared<RecoverOptions>();
  CLI::App* command =
      parent.add_subcommand("recover", "Take back now the rows that dead workers held, and report");
  add_unclaimed(*command, options->unclaimed);
  chosen(*command, context, options, recover);
}

}  // namespace holdfast::cli
