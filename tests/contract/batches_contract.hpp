#pragma once

#include <holdfast/batches.hpp>

#include "contract/store_under_test.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

/// What `Batches` makes of a `BatchStore`, with real workers on a real clock.
class BatchesContract : public testing::TestWithParam<EngineCase> {
 protected:
  BatchesContract();

  NewBatch batch(int rows);
  /// Works until nothing is left.
  WorkerSummary work(const Batches& batches);
  std::vector<RowRecord> rows_of(BatchId id) { return batches_.rows({.batch = id}); }

  TempStore files_;
  std::unique_ptr<EngineUnderTest> store_;
  Engine engine_;
  BatchOptions options_;
  Batches batches_;
};

}  // namespace holdfast::test
