#pragma once

#include "contract/transaction_store_contract.hpp"
#include "transactions/held_ledger.hpp"

namespace holdfast::test {

/// What a ledger promises to the holder of its transaction, whether it is in the store or outside.
class LedgerContract : public TransactionStoreContract {
 protected:
  using Lines = std::vector<LedgerEntry>;

  HeldLedger held(const Claimed& claimed) { return {transactions(), claimed.lease}; }
  Step writing(const Claimed& claimed, Lines lines) {
    return {.lease = claimed.lease, .from = "first", .record = std::move(lines)};
  }
  Stepped record(const Claimed& claimed, Lines lines) {
    return held(claimed).record(writing(claimed, std::move(lines)));
  }
  /// As somebody else sees it.
  Lines lines(TaskId id) { return read_ledger(other().transactions(), id); }
};

}  // namespace holdfast::test
