#include "cli/command.hpp"
#include "cli/report_text.hpp"
#include "recovery/recovery_action.hpp"

namespace holdfast::cli {

namespace {

struct Options {
  std::string action;
};

Exit run(Context& context, const Options& options) {
  Inspector inspector = context.inspector(Stay::thorough);
  print_report(context, inspector.recover(parse_recovery_action(options.action)));
  return Exit::ok;
}

}  // namespace

void add_queue_recover(CLI::App& parent, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      parent.add_subcommand("recover", "Take back now what dead workers held, and report");
  command
      ->add_option("--action", options->action,
                   "What to do with their tasks; default: the configuration's")
      ->check(CLI::IsMember({"retry", "fail", "pending"}));
  chosen(*command, context, options, run);
}

}  // namespace holdfast::cli
