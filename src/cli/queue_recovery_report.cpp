#include "cli/command.hpp"
#include "cli/report_text.hpp"

namespace holdfast::cli {

namespace {

struct QueueRecoveryReportOptions {
  int last = 1;
};

/// What nobody could keep in the store, because that may not be changed now.
std::optional<RecoveryReport> standing_report(const Inspector& inspector) {
  const auto trouble = inspector.standing_trouble();
  if (!trouble) return {};
  RecoveryReport report;
  report.trigger = "start-up";
  report.started_at = trouble->began == WallTime{} ? wall_now() : trouble->began;
  report.completed_at = report.started_at + trouble->duration;
  report.duration = trouble->duration;
  report.start_up = trouble;
  return report;
}

Exit run_queue_recovery_report(Context& context, const QueueRecoveryReportOptions& options) {
  // For people only what the text shows of each; for programs everything.
  constexpr int a_screen = 20;
  const Inspector inspector = context.inspector();
  auto reports =
      context.json ? inspector.reports(options.last) : inspector.reports(options.last, a_screen);
  if (auto standing = standing_report(inspector)) {
    reports.insert(reports.begin(), std::move(*standing));
    reports.resize(std::min(reports.size(), static_cast<std::size_t>(options.last)));
  }
  if (reports.empty() && !context.json)
    context.confirm("no recovery has had anything to do in this store");
  for (const RecoveryReport& report : reports) {
    if (!context.json && &report != &reports.front()) context.print("\n");
    print_report(context, report);
  }
  return Exit::ok;
}

}  // namespace

void add_queue_recovery_report(CLI::App& parent, Context& context) {
  auto options = std::make_shared<QueueRecoveryReportOptions>();
  CLI::App* command =
      parent.add_subcommand("recovery-report", "Print the last report of a recovery");
  command->add_option("--last", options->last, "So many, newest first; default: 1")
      ->check(CLI::Range(1, 10'000));
  chosen(*command, context, options, run_queue_recovery_report);
}

}  // namespace holdfast::cli
