#include <holdfast/error.hpp>
#include <holdfast/metrics.hpp>

#include "cli/command.hpp"

namespace holdfast::cli {

namespace {

struct QueueMetricsOptions {};

Exit run_queue_metrics(Context& context, const QueueMetricsOptions&) {
  if (context.json)
    throw InvalidRequest{
        "metrics have one format, the text that Prometheus reads; leave --json out, or ask "
        "'holdfast queue status' and 'holdfast queue recovery-status'"};
  try {
    context.print(store_metrics(context.existing_engine()));
  } catch (const StoreUnusable&) {
    // Whoever watches the numbers is to see this too, and not only that there are none.
    context.print(halted_store_metrics(context.store_address()));
    throw;
  }
  return Exit::ok;
}

}  // namespace

void add_queue_metrics(CLI::App& parent, Context& context) {
  CLI::App* command =
      parent.add_subcommand("metrics", "Print the numbers of the store for Prometheus");
  chosen(*command, context, std::make_shared<QueueMetricsOptions>(), run_queue_metrics);
}

}  // namespace holdfast::cli
