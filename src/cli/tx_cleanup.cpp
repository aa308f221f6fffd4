#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/results_options.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

Exit run_tx_cleanup(Context& context, const ResultPlaces& places) {
  context.ledger_option = places.ledger;
  const Engine engine = context.existing_engine();
  const auto broker = open_broker_of(context, engine, places);
  const auto done = results::clean_up(engine, *broker, *context.blobs(places.blobs));
  if (context.json)
    context.print_json(
        JsonObject{}.number("queues", done.queues).number("blobs", done.blobs).str());
  else
    context.confirm(
        fmt::format("{} queues and {} blobs of results that failed or were cancelled were removed",
                    done.queues, done.blobs));
  return Exit::ok;
}

}  // namespace

void add_tx_cleanup(CLI::App& parent, Context& context) {
  auto places = std::make_shared<ResultPlaces>();
  CLI::App* command = parent.add_subcommand(
      "cleanup", "Remove queues and blobs of results that failed or were cancelled");
  add_result_places(*command, *places, context);
  chosen(*command, context, places, run_tx_cleanup);
}

}  // namespace holdfast::cli
