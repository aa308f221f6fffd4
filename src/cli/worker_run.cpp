#include <signal.h>

#include <optional>

#include <holdfast/error.hpp>
#include <holdfast/metrics.hpp>
#include <holdfast/worker.hpp>

#include "cli/command.hpp"
#include "cli/foreground.hpp"
#include "cli/http_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/trace_options.hpp"
#include "cli/worker_service.hpp"
#include "exec/exec_handler.hpp"
#include "http/blob_trouble.hpp"
#include "http/forget.hpp"
#include "http/owner.hpp"
#include "http/plain_payload.hpp"

namespace holdfast::cli {

namespace {

constexpr EndWords end_words{"finishing what is running; once more to stop it now",
                             "stopping what is running and giving it back"};

struct WorkerRunOptions {
  std::string line;
  std::vector<std::string> kinds, passed;
  std::string metrics_file;
  WorkerOptions worker;
  PayloadFlags payloads;
  LogOptions log;
  TraceFlags traces;
};

std::vector<std::string> command_of(const WorkerRunOptions& options, const Context& context) {
  auto command = context.program;
  if (!options.line.empty() && !command.empty())
    throw InvalidRequest{"name the program once: with --exec, or after --"};
  if (!options.line.empty()) command.push_back(options.line);
  if (command.empty())
    throw InvalidRequest{
        "this worker would have no handlers: name a program with --exec and the kinds it is for "
        "with --kind. Handlers written in C++ run in programs that link libholdfast and call "
        "holdfast::run"};
  if (options.kinds.empty())
    throw InvalidRequest{
        "which tasks is the program for? Name their kind with --kind; it can be repeated"};
  return command;
}

/// What the program is to read. The answer to a request may be encrypted or kept elsewhere, as its
/// processor was told; a program that was given the wrapping would take it for the answer.
std::string input_of(Attempt& attempt, const http::PayloadOptions& payloads) {
  auto plain =
      http::plain_payload(attempt.payload(), http::owner_of(attempt), payloads, "this worker");
  if (!plain.blob.empty()) http::forget_when_done(attempt, plain.blob);
  return std::move(plain.text);
}

Handler program_handler(const WorkerRunOptions& options, Context& context) {
  const Settings& settings = context.config().settings;
  ExecOptions exec{.command = command_of(options, context), .not_a_line = options.line.empty()};
  // The program must have ended before the worker gives the attempt up.
  exec.stop_grace = std::min(exec.stop_grace, settings.worker.stop_grace / 2);
  exec.pass_environment = options.passed;
  exec.result_bytes = static_cast<std::size_t>(settings.limits.result_bytes);
  exec.input = [payloads = payloads_of(options.payloads, context)](Attempt& attempt) {
    return input_of(attempt, payloads);
  };
  return [program = exec_handler(std::move(exec))](Attempt& attempt) -> Outcome {
    try {
      return program(attempt);
    } catch (const BlobError& error) {
      return http::come_again(error);  // it did not begin
    } catch (const http::PayloadRefused& error) {
      return hold(error.what());
    }
  };
}

Exit run_worker_run(Context& context, const WorkerRunOptions& options) {
  begin_log(context, options.log);
  const Handler handler = program_handler(options, context);
  auto tracing = trace_options(context, options.traces);
  Interrupts interrupts;
  const Engine engine = context.engine(Stay::lasting);
  log_to_stderr(engine, context.quiet ? Severity::warning : Severity::info, context.log_format);
  const WorkerService service{context.systemd, engine};
  std::optional<MetricsFile> metrics;
  if (!options.metrics_file.empty()) metrics.emplace(engine, options.metrics_file);
  std::optional<TraceExport> traces;  // after the file, which is to have its last numbers
  if (tracing && metrics) tracing->metrics = metrics->metrics();
  if (tracing) traces.emplace(engine, *tracing);
  Tasks tasks{engine};
  for (const std::string& kind : options.kinds) tasks.on_json(kind, handler);
  Worker worker{tasks, options.worker};
  const InterruptWatch watch{interrupts, winding_down(worker, context, end_words)};
  print_summary(context, worker.run(), "completed", "completed");
  // SIGTERM is how a worker is told to end; SIGINT is somebody who did not want to wait.
  return interrupts.first() == SIGINT ? Exit::interrupted : Exit::ok;
}

}  // namespace

void add_worker_run(CLI::App& parent, Context& context) {
  auto options = std::make_shared<WorkerRunOptions>();
  CLI::App* command = parent.add_subcommand("run", "Run tasks with a program as their handler");
  command
      ->add_option("--exec", options->line,
                   "Shell command that gets the payload on its standard input; exit 0 done, 75 "
                   "retry, 65 fail for good, else a failure. Or write the program and its "
                   "arguments after --")
      ->type_name("CMD");
  command->add_option("--kind", options->kinds, "Kind of tasks it is for; repeatable")
      ->allow_extra_args(false)
      ->type_name("KIND");
  command->add_option("--queue", options->worker.queues, "Take from this queue only; repeatable")
      ->allow_extra_args(false)
      ->type_name("QUEUE");
  command
      ->add_option("--concurrency", options->worker.concurrency,
                   "So many at once; default: the configuration's, else one for each core")
      ->check(CLI::Range(1, 4'096));
  command
      ->add_option("--metrics-file", options->metrics_file,
                   "Keep this file up to date with what this worker counts, for Prometheus")
      ->type_name("FILE");
  command->add_flag("--until-empty", options->worker.until_empty,
                    "End when nothing is left to run");
  add_pass_environment(*command, options->passed);
  add_payload_flags(*command, options->payloads, context);
  add_refusal_flags(*command, options->payloads);
  add_sealed_kinds_flag(*command, options->payloads);
  add_trace_flags(*command, options->traces);
  add_log_options(*command, options->log);
  chosen(*command, context, options, run_worker_run);
}

}  // namespace holdfast::cli
