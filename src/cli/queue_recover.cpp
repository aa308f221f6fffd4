#include "cli/command.hpp"
#include "cli/interrupts.hpp"
#include "cli/report_text.hpp"
#include "recovery/recovery_action.hpp"

namespace holdfast::cli {

namespace {

struct QueueRecoverOptions {
  std::string action;
  bool dry_run = false;
};

Exit run_queue_recover(Context& context, const QueueRecoverOptions& options) {
  const auto action = parse_recovery_action(options.action);
  Interrupts interrupts;
  std::stop_source stop;
  const InterruptWatch watch{interrupts, [&](int) { stop.request_stop(); }};
  // Somebody who only looks leaves the start-up to those who act on what it finds.
  Inspector inspector = context.inspector(options.dry_run ? Stay::brief : Stay::thorough);
  if (options.dry_run) {
    print_report(context, inspector.plan_recovery(action));
    return Exit::ok;
  }
  const auto report = recover_and_print(
      context, [&] { return inspector.recover(action, stop.get_token()); }, stop.get_token());
  if (stop.stop_requested()) return Exit::interrupted;
  return report.orphans.not_taken > 0 ? Exit::system : Exit::ok;
}

}  // namespace

void add_queue_recover(CLI::App& parent, Context& context) {
  auto options = std::make_shared<QueueRecoverOptions>();
  CLI::App* command =
      parent.add_subcommand("recover", "Take back now what dead workers held, and report");
  command
      ->add_option("--action", options->action,
                   "What to do with their tasks; default: the configuration's")
      ->check(CLI::IsMember({"retry", "fail", "pending"}));
  command->add_flag("--dry-run", options->dry_run, "Only say what would be done");
  chosen(*command, context, options, run_queue_recover);
}

}  // namespace holdfast::cli
