#include <atomic>

#include "support/redis_server.hpp"
#include "transactions/results_scenario.hpp"

namespace holdfast::test {

std::string address_of_results(const TempStore&) {
  static std::atomic<int> stores = 0;
  return fmt::format("{}?prefix=results-{}", shared_lasting_redis().address(), ++stores);
}

std::string broker_of_results(const TempStore& store) { return store.address(); }

/// Those of the store, and between a part and its line in the ledger; messages and blobs are in
/// files here, too.
std::vector<std::string_view> kill_points_of_results() {
  return {"exchange_after_commit", "step_before_commit",   "step_after_commit",
          "outbox_before_publish", "outbox_after_publish", "blob_after_link"};
}

}  // namespace holdfast::test
