#include "cli/results_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/blob_options.hpp"

namespace holdfast::cli {

void add_broker_option(CLI::App& command, std::string& broker) {
  command
      .add_option(
          "--broker", broker,
          "Where messages are: sqlite:FILE or amqp://USER@HOST/VHOST; default: in the store's file")
      ->type_name("URL");
}

void add_result_places(CLI::App& command, ResultPlaces& places, Context& context) {
  add_broker_option(command, places.broker);
  command
      .add_option("--blobs", places.blobs,
                  "Where parts are kept: dir:FOLDER, azure://ACCOUNT/CONTAINER or s3://BUCKET")
      ->required()
      ->type_name("URL");
  add_blob_mode(command, context, "--blobs");
  command
      .add_option("--ledger", places.ledger,
                  "Where ledgers are kept: redis://HOST:PORT; default: in the store")
      ->type_name("URL");
}

std::shared_ptr<Broker> open_broker_of(Context& context, const Engine& engine,
                                       const ResultPlaces& places) {
  // The same file twice would be two writers of one process that wait for each other.
  if (places.broker.empty() || places.broker == context.store_address()) return open_broker(engine);
  return open_broker(places.broker, context.config().settings);
}

}  // namespace holdfast::cli
