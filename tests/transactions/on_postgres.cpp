#include "support/postgres_server.hpp"
#include "transactions/results_scenario.hpp"

namespace holdfast::test {

std::string address_of_results(const TempStore&) { return PostgresServer::shared().new_store(); }
std::string broker_of_results(const TempStore& store) { return store.address(); }

/// Those of the store; messages and blobs are in files here, too.
std::vector<std::string_view> kill_points_of_results() {
  return {"exchange_after_commit", "step_before_commit", "step_after_commit",
          "outbox_before_publish", "outbox_after_publish"};
}

}  // namespace holdfast::test
