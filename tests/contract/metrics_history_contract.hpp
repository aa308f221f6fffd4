#pragma once

#include "contract/store_under_test.hpp"

namespace holdfast::test {

/// What `MetricsHistory` promises.
class MetricsHistoryContract : public StoreContract {
 protected:
  MetricsHistory& history() { return *engine().metrics_history(); }
  /// The texts that are kept of all times.
  std::vector<std::string> texts(int resolution_s);
  static WallTime second(int number) { return WallTime{std::chrono::seconds{1'000'000 + number}}; }
};

}  // namespace holdfast::test
