#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/error.hpp>
#include <holdfast/http/processor.hpp>

#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/http_options.hpp"
#include "cli/http_sidekiq.hpp"
#include "cli/interrupts.hpp"
#include "cli/log.hpp"
#include "cli/trace_options.hpp"
#include "cli/worker_service.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

struct HttpRunOptions {
  http::ProcessorOptions processor;
  std::string timeout, connect_timeout, idle_timeout, dns_cache, host_pause, host_patience;
  bool http1 = false;
  EgressFlags egress;
  SidekiqFlags sidekiq;
  LogOptions log;
  TraceFlags traces;
};

void print_summary(const Context& context, const http::ProcessorSummary& summary) {
  if (context.json)
    context.print_json(JsonObject{}
                           .number("answered", summary.answered)
                           .number("errors", summary.errors)
                           .number("completed", summary.tasks.completed)
                           .number("given_back", summary.tasks.given_back)
                           .number("refused", summary.tasks.refused)
                           .str());
  else
    context.confirm(fmt::format("{} answered, {} errors, {} given back, {} stale writes refused",
                                summary.answered, summary.errors, summary.tasks.given_back,
                                summary.tasks.refused));
}

void wind_down(http::Processor& processor, const Context& context, int count) {
  if (count > 2) ::_exit(static_cast<int>(Exit::interrupted));
  context.systemd.stopping();
  if (!context.quiet)
    log_line(context, Severity::info, "ending",
             count == 1 ? "finishing what is in flight; once more to give it back now"
                        : "giving back what is in flight");
  count == 1 ? processor.quiet() : processor.stop();
}

void rest(http::Processor& processor, const Context& context) {
  const auto state = processor.state();
  processor.rest();
  if (context.quiet || state == http::ProcessorState::draining) return;
  log_line(context, Severity::info, "resting", "taking no more requests; SIGTERM ends this");
}

http::ProcessorOptions processing_of(const HttpRunOptions& options, Context& context) {
  auto processing = options.processor;
  apply(options.egress, context, processing);
  set_duration(processing.request_timeout, options.timeout, "--timeout");
  set_duration(processing.connect_timeout, options.connect_timeout, "--connect-timeout");
  set_duration(processing.idle_timeout, options.idle_timeout, "--idle-timeout");
  set_duration(processing.dns_cache, options.dns_cache, "--dns-cache");
  set_duration(processing.breaker.pause, options.host_pause, "--host-pause");
  if (!options.host_patience.empty())
    processing.breaker.patience = parse_duration(options.host_patience, "--host-patience");
  if (options.http1) processing.version = http::HttpVersion::http1;
  validate(processing);
  return processing;
}

/// So many names are written out; the others are counted.
constexpr std::size_t most_names = 20;

void warn_of_unbound(const Context& context, const HttpRunOptions& options, bool are_sent) {
  auto names = unbound_secrets(options.egress);
  if (names.empty()) return;
  const auto others = names.size() - std::min(names.size(), most_names);
  names.resize(names.size() - others);
  log_line(
      context, Severity::warning, "secrets_unbound",
      fmt::format("secrets without a binding {}: {}{}; write the hosts of each into a file "
                  "beside it, such as {}.bind with the line 'host api.example.org'",
                  are_sent ? "go wherever a job asks for (--require-bound-secrets refuses that)"
                           : "are not sent",
                  fmt::join(names, ", "), others > 0 ? fmt::format(" and {} more", others) : "",
                  names.front()));
}

Exit run_http_run(Context& context, const HttpRunOptions& options) {
  begin_log(context, options.log);
  const auto processing = processing_of(options, context);
  warn_of_unbound(context, options, is_sidekiq(context) && !options.sidekiq.require_bound);
  if (is_sidekiq(context)) {
    if (!options.traces.endpoint.empty())
      throw InvalidRequest{
          "--otlp: spans are of attempts of tasks, which Sidekiq's requests are not"};
    return run_sidekiq(context, processing, options.sidekiq);
  }
  if (options.sidekiq.any())
    throw InvalidRequest{
        "an option for Sidekiq was given, and the store is not Sidekiq's Redis (sidekiq+redis://)"};
  const auto tracing = trace_options(context, options.traces);
  Interrupts interrupts{Interrupts::Of::ends_and_rest};
  const Engine engine = context.engine(Stay::lasting);
  log_to_stderr(engine, Severity::warning, context.log_format);
  const WorkerService service{context.systemd, engine};
  std::optional<TraceExport> traces;
  if (tracing) traces.emplace(engine, *tracing);
  http::Processor processor{engine, processing};
  const InterruptWatch watch{interrupts, [&](int count) { wind_down(processor, context, count); },
                             [&] { rest(processor, context); }};
  print_summary(context, processor.run());
  return interrupts.first() == SIGINT ? Exit::interrupted : Exit::ok;
}

void add_limits(CLI::App& command, HttpRunOptions& options) {
  auto& processor = options.processor;
  command.add_option("--capacity", processor.capacity, "Requests in flight; default: 256")
      ->check(CLI::Range(1, 16'384));
  command.add_option("--per-host", processor.per_host, "Of them to one host; default: 0, no limit")
      ->check(CLI::Range(0, 16'384));
  command
      .add_option("--timeout", options.timeout,
                  "For each hop of a request that does not say, as those of 'http get' and clients "
                  "do; default: 60s")
      ->type_name("TIME");
  command.add_option("--connect-timeout", options.connect_timeout, "Default: 10s")
      ->type_name("TIME");
  command
      .add_option("--max-redirects", processor.max_redirects,
                  "Follow so many; default: 5, 0 follows none")
      ->check(CLI::Range(0, 50));
  command
      .add_option("--max-response", processor.max_response_bytes,
                  "Largest answer in bytes, decoded; default: 1048576")
      ->check(CLI::Range(1, 1 << 30));
  command.add_flag("--raise", processor.raise_error_responses,
                   "Take answers of 400 and more for errors where the request does not say");
  command
      .add_option("--user-agent", processor.user_agent, "Who we say that we are; default: holdfast")
      ->type_name("TEXT");
}

void add_connections(CLI::App& command, HttpRunOptions& options) {
  auto& processor = options.processor;
  command.add_flag("--http1", options.http1,
                   "Speak HTTP/1.1 only, for proxies that cannot bear HTTP/2");
  command
      .add_option("--idle-timeout", options.idle_timeout,
                  "Use a connection again that was idle for so long; default: 60s")
      ->type_name("TIME");
  command
      .add_option("--idle-connections", processor.idle_connections,
                  "Keep so many open, or as many as the capacity if that is more; default: 100")
      ->check(CLI::Range(0, 16'384));
  command
      .add_option("--dns-cache", options.dns_cache,
                  "Know the address of a host for so long; default: 60s")
      ->type_name("TIME");
  command
      .add_option("--host-failures", processor.breaker.failures,
                  "Failures in a row after which the circuit breaker of a host opens, so that "
                  "nothing is sent to it; default: 10, 0: never")
      ->check(CLI::Range(0, 1'000'000));
  command
      .add_option("--host-pause", options.host_pause,
                  "How long until one request tries again whether the host is back; default: 15s")
      ->type_name("TIME");
  command
      .add_option("--host-patience", options.host_patience,
                  "How long requests wait for such a host before they fail, where they do not "
                  "say; default: 1m, and 0s for Sidekiq")
      ->type_name("TIME");
}

}  // namespace

void add_http_run(CLI::App& parent, Context& context) {
  auto options = std::make_shared<HttpRunOptions>();
  CLI::App* command = parent.add_subcommand("run", "Perform requests, thousands at once");
  command->add_option("--queue", options->processor.queues, "Take from this queue only; repeatable")
      ->allow_extra_args(false)
      ->type_name("QUEUE");
  add_limits(*command, *options);
  add_connections(*command, *options);
  add_egress_flags(*command, options->egress, context);
  add_refusal_flags(*command, options->egress.payloads);
  add_sidekiq_flags(*command, options->sidekiq);
  command->add_flag("--until-empty", options->processor.until_empty,
                    "End when no request is left; Sidekiq: on its queues");
  add_trace_flags(*command, options->traces);
  add_log_options(*command, options->log);
  chosen(*command, context, options, run_http_run);
}

}  // namespace holdfast::cli
