#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <thread>

#include <fmt/format.h>

#include <holdfast/metrics.hpp>

#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/interrupts.hpp"
#include "cli/log.hpp"
#include "cli/results_options.hpp"
#include "cli/worker_service.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

constexpr auto clean_up_every = std::chrono::minutes{1};

struct ResultsRunOptions {
  ResultPlaces places;
  results::Options results{};
  TransactionOptions running{};
  std::string abandon_after, queue_patience, timeout, metrics_file;
  std::uint64_t memory = 64;
  LogOptions log;
};

/// Cancelled transactions leave their queues and parts behind. Somebody has to look now and then.
class Sweeper {
 public:
  Sweeper(Engine engine, results::Options options)
      : engine_{std::move(engine)},
        options_{std::move(options)},
        thread_{[this](std::stop_token stop) { sweep(stop); }} {}

 private:
  void sweep(std::stop_token stop) {
    while (!stop.stop_requested()) {
      try {
        results::clean_up(engine_, *options_.broker, *options_.blobs);
      } catch (const Error& error) {
        engine_.events().emit(StoreTrouble{"cleaning up after results", error.what()});
      }
      std::mutex mutex;
      std::unique_lock lock{mutex};
      std::condition_variable_any pause;
      pause.wait_for(lock, stop, clean_up_every, [] { return false; });
    }
  }

  Engine engine_;
  results::Options options_;
  std::jthread thread_;
};

void print_summary(const Context& context, const WorkerSummary& summary) {
  if (context.json)
    context.print_json(JsonObject{}
                           .number("completed", summary.completed)
                           .number("failed", summary.failed_attempts)
                           .number("given_back", summary.given_back)
                           .number("refused", summary.refused)
                           .str());
  else
    context.confirm(fmt::format("{} results completed, {} failed, {} stale writes refused",
                                summary.completed, summary.failed_attempts, summary.refused));
}

void wind_down(TransactionRunner& runner, const Context& context, int count) {
  if (count > 2) ::_exit(static_cast<int>(Exit::interrupted));
  context.systemd.stopping();
  if (!context.quiet)
    log_line(context, Severity::info, "ending",
             count == 1 ? "finishing; once more to stop now" : "stopping");
  count == 1 ? runner.drain() : runner.hurry();
}

/// A container that does not exist, or a key that is wrong, is not going to be right later. A
/// server that is away is waited for.
void check_blobs(const Context& context, BlobStore& blobs) {
  try {
    blobs.list("holdfast-check/");
  } catch (const BlobRefused& error) {
    throw ConfigError{error.what()};
  } catch (const BlobError& error) {
    log_line(context, Severity::warning, "blobs_away", error.what());
  }
}

Exit run_results_run(Context& context, const ResultsRunOptions& given) {
  auto options = given;
  begin_log(context, options.log);
  if (!options.abandon_after.empty())
    options.results.abandon_after = parse_duration(options.abandon_after, "--abandon-after");
  if (!options.queue_patience.empty())
    options.results.queue_patience = parse_duration(options.queue_patience, "--queue-patience");
  if (!options.timeout.empty())
    options.results.timeout = parse_duration(options.timeout, "--timeout");
  options.results.notify_queue = options.results.notify_queues.at(0);
  Interrupts interrupts;
  context.ledger_option = options.places.ledger;
  const Engine engine = context.engine(Stay::lasting);
  context.name_ledger(engine, Stay::lasting);
  log_to_stderr(engine, Severity::info, context.log_format);
  const WorkerService service{context.systemd, engine};
  options.results.broker = open_broker_of(context, engine, options.places);
  if (auto warning = options.results.broker->warning(); !warning.empty())
    log_line(context, Severity::warning, "store_warning", warning);
  options.results.blobs = context.blobs(options.places.blobs);
  check_blobs(context, *options.results.blobs);
  options.results.tell = [engine](const Event& event) { engine.events().emit(event); };
  std::optional<MetricsFile> metrics;
  if (!options.metrics_file.empty()) metrics.emplace(engine, options.metrics_file);
  options.running.broker = options.results.broker;
  options.running.consumer.prefetch_bytes = options.memory << 20;
  TransactionRunner runner{engine, results::machine(options.results), options.running};
  const InterruptWatch watch{interrupts, [&](int count) { wind_down(runner, context, count); }};
  std::optional<results::Intake> intake;
  if (!options.results.intake_queue.empty()) intake.emplace(engine, options.results);
  const Sweeper sweeper{engine, options.results};
  print_summary(context, runner.run());
  return interrupts.first() == SIGINT ? Exit::interrupted : Exit::ok;
}

void add_limits(CLI::App& command, ResultsRunOptions& options) {
  command
      .add_option("--abandon-after", options.abandon_after,
                  "Fail a result that has listened for this time without a new part; default: 30m")
      ->type_name("TIME");
  command
      .add_option("--queue-patience", options.queue_patience,
                  "Replace a queue that cannot be read for this time; 0: never; default: 2m")
      ->type_name("TIME");
  command.add_option("--timeout", options.timeout, "For a whole result; default: none")
      ->type_name("TIME");
  command.add_option("--capacity", options.running.capacity, "Results in progress; default: 1000")
      ->check(CLI::Range(1, 16'384));
  command
      .add_option("--threads", options.running.threads,
                  "Handlers at once, which mostly wait; default: 16")
      ->check(CLI::Range(1, 1'000));
  command
      .add_option("--prefetch", options.memory,
                  "Megabytes of messages taken ahead; a larger one comes alone; default: 64")
      ->check(CLI::Range(1, 100'000));
}

}  // namespace

void add_results_run(CLI::App& parent, Context& context) {
  auto options = std::make_shared<ResultsRunOptions>();
  CLI::App* command = parent.add_subcommand("run", "Collect results that arrive in parts");
  add_result_places(*command, options->places, context);
  command->add_option("--request-queue", options->results.request_queue, "The producer's queue")
      ->required()
      ->type_name("QUEUE");
  command
      ->add_option("--notify-queue", options->results.notify_queues,
                   "Queue that is told that a result is complete; repeatable: requests may name "
                   "one of the others instead")
      ->required()
      ->allow_extra_args(false)
      ->type_name("QUEUE");
  command
      ->add_option("--notify-prefix", options->results.notify_prefixes,
                   "Requests may also name queues that begin with this; repeatable")
      ->allow_extra_args(false)
      ->type_name("PREFIX");
  command
      ->add_option("--intake-queue", options->results.intake_queue,
                   "Start a result for each message here, too")
      ->type_name("QUEUE");
  command
      ->add_option("--failure-queue", options->results.failure_queue,
                   "Queue that is told that a result failed; default: the queue for its notice")
      ->type_name("QUEUE");
  add_limits(*command, *options);
  command
      ->add_option("--metrics-file", options->metrics_file,
                   "Keep this file up to date with what this instance counts, for Prometheus")
      ->type_name("FILE");
  command->add_flag("--until-empty", options->running.until_empty, "End when no result is left");
  add_log_options(*command, options->log);
  chosen(*command, context, options, run_results_run);
}

}  // namespace holdfast::cli
