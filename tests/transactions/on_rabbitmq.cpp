#include "support/postgres_server.hpp"
#include "support/rabbitmq_server.hpp"
#include "transactions/results_scenario.hpp"

namespace holdfast::test {

std::string address_of_results(const TempStore&) { return PostgresServer::shared().new_store(); }
std::string broker_of_results(const TempStore&) { return RabbitmqServer::shared().address(); }

/// Those on the way of a message; the rest is the same as with a broker in a file.
std::vector<std::string_view> kill_points_of_results() {
  return {"outbox_before_publish",      "broker_before_confirm",     "broker_after_confirm",
          "message_before_acknowledge", "broker_before_acknowledge", "message_after_acknowledge"};
}

}  // namespace holdfast::test
