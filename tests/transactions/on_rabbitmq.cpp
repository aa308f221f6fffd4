#include <atomic>
#include <cstdlib>

#include "blobs/servers.hpp"
#include "support/postgres_server.hpp"
#include "support/rabbitmq_server.hpp"
#include "support/redis_server.hpp"
#include "transactions/results_scenario.hpp"

namespace holdfast::test {

/// In PostgreSQL, or in Redis if the environment says so.
std::string address_of_results(const TempStore&) {
  static std::atomic<int> stores = 0;
  const char* wanted = std::getenv("HOLDFAST_TEST_STORE");
  if (!wanted || std::string_view{wanted} != "redis") return PostgresServer::shared().new_store();
  return fmt::format("{}?prefix=results-{}", shared_lasting_redis().address(), ++stores);
}
std::string broker_of_results(const TempStore&) { return RabbitmqServer::shared().address(); }
std::string blobs_of_results(const TempStore& store) {
  return shared_azurite().address(store.folder().filename());
}

/// All on the way of a result; `upload_after_block` needs larger parts.
std::vector<std::string_view> kill_points_of_results() {
  return {"exchange_before_commit",     "exchange_after_commit",     "handler_before_start",
          "handler_after_return",       "step_before_commit",        "step_after_commit",
          "outbox_before_publish",      "outbox_after_publish",      "broker_before_confirm",
          "broker_after_confirm",       "upload_before_commit",      "upload_after_commit",
          "message_before_acknowledge", "broker_before_acknowledge", "message_after_acknowledge"};
}

}  // namespace holdfast::test
