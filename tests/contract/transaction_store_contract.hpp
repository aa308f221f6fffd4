#pragma once

#include "contract/store_under_test.hpp"
#include "transactions/transaction_store.hpp"

namespace holdfast::test {

/// What `TransactionStore` promises: state, ledger and outbox move together, and only for whoever
/// holds the task.
class TransactionStoreContract : public StoreContract {
 protected:
  TransactionStore& transactions() { return engine().transactions(); }

  Stepped step(const Claimed& claimed, Step step) {
    step.lease = claimed.lease;
    if (step.from.empty()) step.from = "first";
    return transactions().step(step);
  }
  std::optional<TransactionRow> row(TaskId id) {
    return transactions().find(std::span{&id, 1}).at(0);
  }
  /// Its worker dies, recovery takes it back, and another worker claims it.
  Claimed taken_over(const Claimed& claimed, WorkerId worker);
};

}  // namespace holdfast::test
