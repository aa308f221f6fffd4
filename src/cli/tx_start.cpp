#include <fmt/format.h>

#include <holdfast/state_machine.hpp>

#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

struct TxStartOptions {
  std::string machine;
  std::string input = "null";
  std::string id;
  std::string delay;
};

Exit run_tx_start(Context& context, const TxStartOptions& options) {
  StartOptions start;
  if (!options.delay.empty()) start.delay = parse_duration(options.delay, "--delay");
  const auto id =
      start_transaction(context.engine(), options.machine, options.id, options.input, start);
  if (context.json)
    context.print_json(JsonObject{}.text("id", id).str());
  else
    context.say(id);
  return Exit::ok;
}

}  // namespace

void add_tx_start(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TxStartOptions>();
  CLI::App* command = parent.add_subcommand("start", "Start a transaction, and print its id");
  command->add_option("MACHINE", options->machine, "Whose states it goes through, such as results")
      ->required()
      ->type_name("");
  command->add_option("INPUT", options->input, "What it is started with (JSON); default: null")
      ->type_name("");
  command
      ->add_option("--id", options->id,
                   "Its id, so that it can be started again safely; default: a new one")
      ->type_name("ID");
  command->add_option("--delay", options->delay, "Not before this time has passed, such as 10m")
      ->type_name("TIME");
  chosen(*command, context, options, run_tx_start);
}

}  // namespace holdfast::cli
