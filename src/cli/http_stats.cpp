#include <algorithm>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/http_sidekiq.hpp"
#include "cli/table.hpp"
#include "documents/http_health.hpp"
#include "documents/http_stats.hpp"

namespace holdfast::cli {

namespace {

struct HttpStatsOptions {
  int newest = 10'000;
};

void print_endpoints(const Context& context, const HttpStats& stats) {
  Table table{
      {{"HOST"}, {"REQUESTS", true}, {"UNANSWERED", true}, {"5XX", true}, {"95 % WITHIN", true}}};
  for (const auto& [host, endpoint] : stats.endpoints)
    table.add({host.empty() ? "(not known)" : host, std::to_string(endpoint.requests),
               std::to_string(endpoint.unanswered), std::to_string(endpoint.server_errors),
               fmt::format("{:.3f} s", percentile(endpoint.durations, 0.95))});
  if (!table.empty()) context.print(table.text(context.out));
}

void print_requests(const Context& context, const HttpStats& stats) {
  Table table{{{"REQUESTS"}, {"COUNT", true}}};
  for (const auto& [name, count] : stats.states)
    if (count > 0) table.add({name, std::to_string(count)});
  for (const auto& [name, count] : stats.statuses)
    table.add({"answered " + name, std::to_string(count)});
  for (const auto& [name, count] : stats.errors)
    table.add({"error " + name, std::to_string(count)});
  if (table.empty()) return context.confirm("there are no requests");
  context.print(table.text(context.out));
  if (!stats.durations.empty())
    context.say(fmt::format(
        "on average {:.3f} s, half within {:.3f} s, 95 % within {:.3f} s, 99 % within {:.3f} s",
        mean(stats.durations), percentile(stats.durations, 0.5), percentile(stats.durations, 0.95),
        percentile(stats.durations, 0.99)));
  print_endpoints(context, stats);
}

void print_text(const Context& context, const HttpStats& stats) {
  print_requests(context, stats);
  for (const auto& host : stats.left_alone) context.say(sentence_of(host));
  for (const auto& process : stats.processes)
    context.say(fmt::format(
        "{} (process {} on {}) is {}: {} of {} in flight ({} %), full {} times", process.worker,
        process.pid, process.host, process.state, process.in_flight, process.capacity,
        process.in_flight * 100 / std::max(1, process.capacity), process.capacity_exceeded));
}

Exit run_http_stats(Context& context, const HttpStatsOptions& options) {
  if (is_sidekiq(context)) return count_sidekiq(context);
  const auto stats = http_stats(context.existing_engine(), {.newest = options.newest});
  if (context.json)
    context.print_json(http_stats_json(stats));
  else
    print_text(context, stats);
  return Exit::ok;
}

}  // namespace

void add_http_stats(CLI::App& parent, Context& context) {
  auto options = std::make_shared<HttpStatsOptions>();
  CLI::App* command =
      parent.add_subcommand("stats", "Count requests, statuses, errors and how long they took");
  command
      ->add_option("--newest", options->newest, "Look into the results of so many; default: 10000")
      ->check(CLI::Range(1, 1'000'000));
  chosen(*command, context, options, run_http_stats);
}

}  // namespace holdfast::cli
