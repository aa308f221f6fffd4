#include <fmt/format.h>

#include "support/rabbitmq_server.hpp"
#include "transactions/amqp_front_of_results.hpp"
#include "transactions/results_scenario.hpp"

namespace holdfast::test {

AmqpFront& front_of_results() {
  static AmqpFront front{RabbitmqServer::shared().port()};
  return front;
}

/// Only the queues are elsewhere.
std::string address_of_results(const TempStore& store) { return store.address(); }
std::string ledger_of_results(const TempStore&) { return {}; }
std::string broker_of_results(const TempStore&) {
  return fmt::format("amqp://{}:{}@127.0.0.1:{}", RabbitmqServer::user, RabbitmqServer::password,
                     front_of_results().port());
}
std::string blobs_of_results(const TempStore& store) {
  return "dir:" + (store.folder() / "parts").string();
}
std::vector<std::string_view> kill_points_of_results() { return {}; }

}  // namespace holdfast::test
