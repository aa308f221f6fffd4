#pragma once

#include <memory>
#include <string>

#include <holdfast/results.hpp>

#include "cli/context.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// Where messages and parts of results are.
struct ResultPlaces {
  std::string broker;  ///< empty: in the file of the store
  std::string blobs{};
  std::string ledger{};  ///< empty: what the environment or the configuration says, if anything
};
void add_broker_option(CLI::App& command, std::string& broker);
void add_result_places(CLI::App& command, ResultPlaces& places, Context& context);
std::shared_ptr<Broker> open_broker_of(Context& context, const Engine& engine,
                                       const ResultPlaces& places);

}  // namespace holdfast::cli
