#pragma once

#include "batches/batch_store.hpp"
#include "contract/store_under_test.hpp"

namespace holdfast::test {

/// What `BatchStore` promises.
class BatchStoreContract : public StoreContract {
 protected:
  BatchStore& batches() { return *engine().batch_store(); }

  /// A batch of so many rows for the application `shop` and the operation `price`.
  NewBatch batch(int rows);
  BatchId submit(const NewBatch& batch) { return batches().insert(BatchId::make(), batch).id; }

  ClaimRequest units(WorkerId worker, int limit = 100);
  std::vector<Claimed> claim_units(WorkerId worker, int limit = 100);
  Settled end(const UnitEnd& end);
  Settled succeed(const Claimed& unit, const std::string& result = "1");
  /// Claims every row and ends it well; the batch is ready to be summed up then.
  void do_all_rows(WorkerId worker);
  UnitEnd summary(const Claimed& unit, std::int64_t successes);

  /// What recovery would say about a unit that is to run again.
  static Verdict run_again(const Lease& lease);
  bool reclaim(const Verdict& verdict) {
    return batches().reclaim(std::span{&verdict, 1}, report()).at(0);
  }

  BatchRecord found(BatchId id);
  std::vector<RowRecord> rows_of(BatchId id);
};

}  // namespace holdfast::test
