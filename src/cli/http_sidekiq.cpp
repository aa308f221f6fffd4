#include "cli/http_sidekiq.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <holdfast/error.hpp>
#include <holdfast/http/sidekiq.hpp>

#include "cli/http_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/log.hpp"
#include "cli/table.hpp"
#include "documents/http_health.hpp"
#include "documents/http_target.hpp"
#include "documents/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

void wind_down(http::SidekiqProcessor& processor, const Context& context, int count) {
  if (count > 2) ::_exit(static_cast<int>(Exit::interrupted));
  context.systemd.stopping();
  if (!context.quiet)
    log_line(context, Severity::info, "ending",
             count == 1 ? "finishing what is in flight; once more to give it back now"
                        : "giving back what is in flight");
  count == 1 ? processor.quiet() : processor.stop();
}

void print_summary(const Context& context, const http::SidekiqSummary& summary) {
  if (context.json)
    context.print_json(JsonObject{}
                           .number("answered", summary.answered)
                           .number("errors", summary.errors)
                           .number("callbacks", summary.callbacks)
                           .number("retried", summary.retried)
                           .number("died", summary.died)
                           .number("discarded", summary.discarded)
                           .number("given_back", summary.given_back)
                           .number("refused", summary.refused)
                           .number("recovered", summary.recovered)
                           .str());
  else
    context.confirm(fmt::format(
        "{} answered, {} errors, {} callbacks, {} to be tried again, {} dead, {} discarded, {} "
        "given "
        "back, {} recovered, {} stale results refused",
        summary.answered, summary.errors, summary.callbacks, summary.retried, summary.died,
        summary.discarded, summary.given_back, summary.recovered, summary.refused));
}

int percent(const http::SidekiqProcess& process) {
  return static_cast<int>(process.in_flight * 100 / std::max(1, process.capacity));
}

/// Nothing: none was performed.
std::optional<double> average_seconds(const http::SidekiqStatus& status) {
  const auto requests = status.totals.find("requests"), taken = status.totals.find("duration");
  if (taken == status.totals.end() || requests == status.totals.end() || requests->second < 1)
    return {};
  return taken->second / requests->second;
}

std::string times_text(const http::SidekiqTimes& times) {
  if (times.measured == 0) return {};
  return fmt::format(", half within {:.3f} s, 95 % within {:.3f} s, 99 % within {:.3f} s",
                     times.p50, times.p95, times.p99);
}

std::string status_json(const http::SidekiqStatus& status) {
  JsonObject totals, queues;
  std::vector<std::string> processes, hosts;
  for (const auto& [name, count] : status.totals) totals.fraction(name, count);
  for (const auto& [name, jobs] : status.queues) queues.number(name, jobs);
  for (const auto& one : status.processes)
    processes.push_back(
        JsonObject{}
            .text("process", one.id)
            .text("state", one.state)
            .text("trouble", one.trouble)
            .number("capacity", one.capacity)
            .number("in_flight", one.in_flight)
            .number("waiting", one.waiting)
            .fraction("utilisation", static_cast<double>(one.in_flight) / std::max(1, one.capacity))
            .str());
  for (const auto& host : status.left_alone) hosts.push_back(left_alone_json(host));
  return JsonObject{}
      .number("in_flight", status.in_flight_count)
      .json("queues", queues.str())
      .json("totals", totals.str())
      .fraction("average_seconds", average_seconds(status).value_or(0))
      .number("measured", status.times.measured)
      .fraction("p50_seconds", status.times.p50)
      .fraction("p95_seconds", status.times.p95)
      .fraction("p99_seconds", status.times.p99)
      .json("processes", json_list(processes))
      .json("left_alone", json_list(hosts))
      .str();
}

std::string sentence_of_process(const http::SidekiqProcess& one) {
  if (one.capacity == 0)
    return fmt::format("{}: not heard of any more, {} in flight", one.id, one.in_flight);
  return fmt::format(
      "{}{}: {} of {} in flight ({} %){}{}", one.id,
      one.state.empty() ? "" : fmt::format(" is {}", one.state), one.in_flight, one.capacity,
      percent(one),
      one.waiting == 0 ? "" : fmt::format(", {} wait for a place at their host", one.waiting),
      one.trouble.empty() ? "" : fmt::format("; requests cannot begin there: {}", one.trouble));
}

void print_status(const Context& context, const http::SidekiqStatus& status) {
  Table table{{{"TOTAL"}, {"COUNT", true}}};
  for (const auto& [name, count] : status.totals)
    table.add({name, fmt::format("{:.{}f}", count, name == "duration" ? 3 : 0)});
  if (table.empty()) context.confirm("no requests have been counted yet");
  if (!table.empty()) context.print(table.text(context.out));
  if (const auto average = average_seconds(status))
    context.say(fmt::format("on average {:.3f} s{}", *average, times_text(status.times)));
  for (const auto& [name, jobs] : status.queues)
    if (jobs > 0)
      context.say(
          fmt::format("queue {}: {} job{}, of whatever class", name, jobs, jobs == 1 ? "" : "s"));
  for (const auto& host : status.left_alone) context.say(sentence_of(host));
  for (const auto& one : status.processes) context.say(sentence_of_process(one));
}

}  // namespace

bool is_sidekiq(Context& context) { return http::is_sidekiq_address(context.store_address()); }

bool SidekiqFlags::any() const {
  return hold || require_bound || retries >= 0 || recoveries >= 0 || !callback_queue.empty() ||
         !heartbeat.empty() || !orphans.empty() || !shutdown.empty();
}

void add_sidekiq_flags(CLI::App& command, SidekiqFlags& flags) {
  command
      .add_option("--callback-queue", flags.callback_queue,
                  "Sidekiq: where callbacks go; default: the queue of the request")
      ->type_name("QUEUE");
  command
      .add_option("--heartbeat-interval", flags.heartbeat,
                  "Sidekiq: how often requests in flight are vouched for; default: 60s")
      ->type_name("TIME");
  command
      .add_option("--orphan-threshold", flags.orphans,
                  "Sidekiq: after so long a silence requests are taken over; default: 300s")
      ->type_name("TIME");
  command
      .add_option("--shutdown-timeout", flags.shutdown,
                  "Sidekiq: so long may requests in flight take at the end; default: 23s")
      ->type_name("TIME");
  command
      .add_option("--retries", flags.retries,
                  "Sidekiq: try connections that fail again; default: 3 times")
      ->check(CLI::Range(0, 100));
  command
      .add_option("--max-recoveries", flags.recoveries,
                  "Sidekiq: a request that died with its process more often becomes a dead job; "
                  "default: 3 times")
      ->check(CLI::Range(0, 1'000));
  command.add_flag("--require-bound-secrets", flags.require_bound,
                   "Sidekiq: refuse secrets that have no file NAME.bind");
  command.add_flag("--hold-ambiguous", flags.hold,
                   "Sidekiq: do not send a POST or PATCH again whose process died meanwhile");
}

Exit run_sidekiq(Context& context, const http::ProcessorOptions& processing,
                 const SidekiqFlags& flags) {
  http::SidekiqOptions options;
  options.processor = processing;
  options.callback_queue = flags.callback_queue;
  if (flags.retries >= 0) options.retries = flags.retries;
  if (flags.recoveries >= 0) options.max_recoveries = flags.recoveries;
  if (flags.hold) options.on_ambiguous = http::OnAmbiguous::hold;
  options.require_bound_secrets = flags.require_bound;
  set_duration(options.heartbeat_interval, flags.heartbeat, "--heartbeat-interval");
  set_duration(options.orphan_threshold, flags.orphans, "--orphan-threshold");
  set_duration(options.shutdown_timeout, flags.shutdown, "--shutdown-timeout");
  options.log = sentences_to_stderr("sidekiq", context.quiet ? Severity::warning : Severity::info,
                                    context.log_format);
  Interrupts interrupts{Interrupts::Of::ends_and_rest};
  http::SidekiqProcessor processor{context.store_address(), options};
  const InterruptWatch watch{interrupts, [&](int count) { wind_down(processor, context, count); },
                             [&] { processor.rest(); }};
  // Its heartbeats are the gem's, in keys that only its processes judge.
  context.systemd.unwatched();
  context.systemd.ready(fmt::format("working on {}", check_address(context.store_address())));
  print_summary(context, processor.run());
  return interrupts.first() == SIGINT ? Exit::interrupted : Exit::ok;
}

Exit list_sidekiq(Context& context, int limit) {
  const auto status = http::sidekiq_status(context.store_address(), limit);
  Table table{{{"REQUEST"}, {"AGE", true}, {"METHOD"}, {"HOST"}, {"PROCESS"}, {"HEARTBEAT", true}}};
  for (const auto& request : status.in_flight) {
    auto id = request.id.substr(std::min(request.id.size(), request.process.size() + 1));
    if (context.json)
      context.print_json(
          JsonObject{}
              .text("id", id)
              .json("age_ms", request.age ? std::to_string(request.age->count()) : "null")
              .text("method", request.method)
              .text("host", host_of(request.url))
              .text("process", request.process)
              .number("heartbeat_age_ms", request.silence.count())
              .str());
    table.add({id, request.age ? duration_text(*request.age) : "", request.method,
               host_of(request.url), request.process, duration_text(request.silence)});
  }
  if (context.json) return Exit::ok;
  if (status.in_flight.empty())
    context.confirm("no requests are in flight");
  else
    context.print(table.text(context.out));
  for (const auto& host : status.left_alone) context.say(sentence_of(host));
  return Exit::ok;
}

Exit count_sidekiq(Context& context) {
  const auto status = http::sidekiq_status(context.store_address(), 1);
  if (context.json)
    context.print_json(status_json(status));
  else
    print_status(context, status);
  return Exit::ok;
}

}  // namespace holdfast::cli
