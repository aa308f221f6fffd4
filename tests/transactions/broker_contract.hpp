#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <holdfast/broker.hpp>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

/// Opens the same broker again and again, as several processes would; `folder` is the test's own.
struct BrokerCase {
  std::string name;
  std::function<std::shared_ptr<Broker>(const TempStore& folder)> open;
};

/// What every broker must do.
class BrokerContract : public testing::TestWithParam<BrokerCase> {
 protected:
  /// A server that tests share is left as it was.
  void TearDown() override {
    for (auto queue : {"q", "other", dead_letter_queue}) broker_->remove(queue);
  }
  std::shared_ptr<Broker> open_again() const { return GetParam().open(store_); }
  /// Takes until there are `count`, or it has taken too long.
  static std::vector<DeliveryPtr> receive(Consumer& consumer, std::size_t count);
  static std::vector<std::string> bodies(const std::vector<DeliveryPtr>& deliveries);
  /// A consumer says that there is no such queue, in one of the two ways.
  bool finds_missing(const std::string& queue);
  /// Messages in a queue; -1: it is not there.
  std::int64_t waiting(const std::string& queue);

  TempStore store_;
  std::shared_ptr<Broker> broker_ = open_again();
};

}  // namespace holdfast::test
