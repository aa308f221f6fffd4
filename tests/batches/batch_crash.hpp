#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include <holdfast/batches.hpp>

#include "support/journal.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

/// A store that driver processes work on, and what must hold of it in the end.
class BatchCrash : public testing::Test {
 protected:
  using Words = std::vector<std::string>;

  Process start(const std::string& mode, const Words& words = {}, const Environment& extra = {});
  /// The same, to the end, which must be a good one.
  std::string finish(const std::string& mode, const Words& words = {});
  /// Submits a batch and remembers how many rows it has.
  BatchId submit(int rows, const Words& words = {});
  void work_it_off() { finish("work", {"until_empty=1"}); }

  Engine engine(const Settings& settings = {}) const { return open(address_, settings); }
  BatchRecord record(BatchId id) const;
  /// Rows of the batch whose processing was begun, repetitions included.
  int begun(BatchId id) const;
  bool comes_to_begin(BatchId id, int rows = 1) const;

  /// Every row of every batch is there, done, with its own result, and was ended once; the counters
  /// are right, the output is in order, and one task follows. `failed`: so many rows failed.
  void expect_conserved(std::int64_t failed = 0) const;
  void expect_ended_once() const;

  TempStore store_;
  std::vector<std::pair<BatchId, int>> submitted_;

 private:
  void expect_rows(const Batches& batches, const BatchRecord& batch) const;
  static std::string new_address(const TempStore& store);
  std::string address_ = new_address(store_);
};

}  // namespace holdfast::test
