#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/results_options.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

struct TxSignalOptions {
  std::string id;
  std::string name;
  std::string json = "null";
  ResultPlaces places;
};

Exit run_tx_signal(Context& context, const TxSignalOptions& options) {
  const Engine engine = context.existing_engine();
  const auto broker = open_broker_of(context, engine, options.places);
  signal_transaction(engine, *broker, options.id, options.name, options.json);
  if (context.json)
    context.print_json(
        JsonObject{}.text("transaction", options.id).text("signal", options.name).str());
  else
    context.confirm(fmt::format("signal '{}' sent to transaction {}", options.name, options.id));
  return Exit::ok;
}

}  // namespace

void add_tx_signal(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TxSignalOptions>();
  CLI::App* command = parent.add_subcommand(
      "signal", "Send a signal to a transaction, such as an approval that it waits for");
  command->add_option("ID", options->id, "The transaction")->required()->type_name("");
  command->add_option("NAME", options->name, "The signal")->required()->type_name("");
  command->add_option("JSON", options->json, "Its value; default: null")->type_name("");
  add_broker_option(*command, options->places.broker);
  chosen(*command, context, options, run_tx_signal);
}

}  // namespace holdfast::cli
