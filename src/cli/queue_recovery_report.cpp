#include "cli/command.hpp"
#include "cli/report_text.hpp"

namespace holdfast::cli {

namespace {

struct Options {
  int last = 1;
};

Exit run(Context& context, const Options& options) {
  // For people only what the text shows of each; for programs everything.
  constexpr int a_screen = 20;
  const Inspector inspector = context.inspector();
  const auto reports =
      context.json ? inspector.reports(options.last) : inspector.reports(options.last, a_screen);
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
  auto options = std::make_shared<Options>();
  CLI::App* command =
      parent.add_subcommand("recovery-report", "Print the last report of a recovery");
  command->add_option("--last", options->last, "So many, newest first; default: 1")
      ->check(CLI::Range(1, 10'000));
  chosen(*command, context, options, run);
}

}  // namespace holdfast::cli
