#include <atomic>
#include <cstdlib>

#include "blobs/servers.hpp"
#include "support/postgres_server.hpp"
#include "support/rabbitmq_server.hpp"
#include "support/redis_server.hpp"
#include "transactions/results_scenario.hpp"

namespace holdfast::test {

namespace {

/// What the environment says; nothing: four servers, each for what it is best at.
std::string_view wanted() {
  const char* said = std::getenv("HOLDFAST_TEST_STORE");
  return said ? said : "";
}

std::string place_in_redis() {
  static std::atomic<int> places = 0;
  return fmt::format("{}?prefix=results-{}", shared_lasting_redis().address(), ++places);
}

}  // namespace

std::string address_of_results(const TempStore&) {
  return wanted() == "redis" ? place_in_redis() : PostgresServer::shared().new_store();
}
std::string ledger_of_results(const TempStore&) {
  return wanted().empty() ? place_in_redis() : std::string{};
}
std::string broker_of_results(const TempStore&) { return RabbitmqServer::shared().address(); }
std::string blobs_of_results(const TempStore& store) {
  return shared_azurite().address(store.folder().filename());
}

/// All on the way of a result; `upload_after_block` needs larger parts.
std::vector<std::string_view> kill_points_of_results() {
  std::vector<std::string_view> points{
      "exchange_before_commit",     "exchange_after_commit",     "handler_before_start",
      "handler_after_return",       "step_before_commit",        "step_after_commit",
      "outbox_before_publish",      "outbox_after_publish",      "broker_before_confirm",
      "broker_after_confirm",       "upload_before_commit",      "upload_after_commit",
      "message_before_acknowledge", "broker_before_acknowledge", "message_after_acknowledge"};
  if (wanted().empty())
    points.insert(points.end(), {"ledger_before_begin", "ledger_after_begin",
                                 "ledger_before_record", "ledger_after_record"});
  return points;
}

}  // namespace holdfast::test
