#include <signal.h>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/batch_commands.hpp"
#include "cli/batch_text.hpp"
#include "cli/blob_options.hpp"
#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/foreground.hpp"
#include "cli/interrupts.hpp"
#include "cli/report_text.hpp"
#include "cli/row_program.hpp"
#include "cli/worker_service.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

/// What is said about workers of another make.
struct Others {
  std::string liveness, unclaimed;
};

constexpr EndWords end_words_of_rows{
    "finishing the rows that are begun; once more to give them back now",
    "stopping, and giving back what is begun"};

struct BatchRunOptions {
  std::string line, app, output, drain;
  Others others;
  std::vector<std::string> ops, passed;
  int attempts = 3;
  WorkerOptions worker;
  LogOptions log;
};

struct RecoverOptions {
  Others others;
};

void add_others(CLI::App& command, Others& others) {
  add_liveness(command, others.liveness);
  command
      .add_option("--queue-unclaimed-after", others.unclaimed,
                  "Queue rows again that workers of another make left in progress, when they have "
                  "been known for so long; default: 3m with --liveness, else never")
      ->type_name("DURATION");
}

void set_others(const Others& others, BatchOptions& options) {
  options.liveness = liveness_of(others.liveness);
  if (!others.unclaimed.empty())
    options.queue_unclaimed_after = parse_duration(others.unclaimed, "--queue-unclaimed-after");
}

Exit run_batch_run(Context& context, const BatchRunOptions& options) {
  begin_log(context, options.log);
  Interrupts interrupts;
  RowProgram program{options.line, options.passed};
  const Engine engine = context.engine(Stay::lasting);
  log_to_stderr(engine, context.quiet ? Severity::warning : Severity::info, context.log_format);
  const WorkerService service{context.systemd, engine};
  BatchOptions how{.blobs = output_store(context, context.store_address(), options.output),
                   .max_attempts = options.attempts};
  set_others(options.others, how);
  Batches batches{engine, std::move(how)};
  for (const auto& op : options.ops)
    batches.on(options.app, op, [&](const RowAttempt& row) { return program.process(row); });
  auto as_worker = options.worker;
  as_worker.drain_timeout =
      options.drain.empty() ? without_limit : parse_duration(options.drain, "--drain-timeout");
  Worker worker{batches.work(), std::move(as_worker)};
  const InterruptWatch watch{interrupts, winding_down(worker, context, end_words_of_rows)};
  print_summary(context, worker.run(), "done", "rows and summaries done");
  return interrupts.first() == SIGINT ? Exit::interrupted : Exit::ok;
}

Exit recover(Context& context, const RecoverOptions& options) {
  Interrupts interrupts;
  std::stop_source stop;
  const InterruptWatch watch{interrupts, [&](int) { stop.request_stop(); }};
  BatchOptions how;
  set_others(options.others, how);
  Batches batches{context.existing_engine(Stay::thorough), std::move(how)};
  recover_and_print(
      context, [&] { return batches.recover(stop.get_token()); }, stop.get_token());
  return stop.stop_requested() ? Exit::interrupted : Exit::ok;
}

}  // namespace

void add_batch_run(CLI::App& parent, Context& context) {
  auto options = std::make_shared<BatchRunOptions>();
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
  add_blob_mode(*command, context, "--output");
  command
      ->add_option("--attempts", options->attempts,
                   "So often a row is begun before it fails; default: 3")
      ->check(CLI::Range(1, 1'000));
  command
      ->add_option("--concurrency", options->worker.concurrency,
                   "So many programs at once; default: the configuration's, else one for each core")
      ->check(CLI::Range(1, 4'096));
  command
      ->add_option("--drain-timeout", options->drain,
                   "How long begun rows may take to finish after SIGTERM (default: no limit)")
      ->type_name("DURATION");
  add_others(*command, options->others);
  add_pass_environment(*command, options->passed);
  command->add_flag("--until-empty", options->worker.until_empty,
                    "End when nothing is left that this worker could process");
  add_log_options(*command, options->log);
  chosen(*command, context, options, run_batch_run);
}

void add_batch_recover(CLI::App& parent, Context& context) {
  auto options = std::make_shared<RecoverOptions>();
  CLI::App* command =
      parent.add_subcommand("recover", "Take back now the rows that dead workers held, and report");
  add_others(*command, options->others);
  chosen(*command, context, options, recover);
}

}  // namespace holdfast::cli
