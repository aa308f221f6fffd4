#include "recovery/kill_point.hpp"
#include "transactions/results_scenario.hpp"

namespace holdfast::test {

std::string address_of_results(const TempStore& store) { return store.address(); }
std::string ledger_of_results(const TempStore&) { return {}; }
std::string broker_of_results(const TempStore& store) { return store.address(); }
std::string blobs_of_results(const TempStore& store) {
  return "dir:" + (store.folder() / "blobs").string();
}

std::vector<std::string_view> kill_points_of_results() {
  std::vector<std::string_view> points{"exchange_before_commit", "exchange_after_commit",
                                       "handler_before_start", "handler_after_return"};
  for (auto name : kill_point_names)
    for (auto part : {"step", "outbox", "message", "blob"})
      if (name.starts_with(part)) points.push_back(name);
  return points;
}

}  // namespace holdfast::test
