#pragma once

#include "batches/batch_store.hpp"
#include "engines/sqlite/store.hpp"

namespace holdfast::sqlite {

class SqliteBatchStore final : public BatchStore {
 public:
  explicit SqliteBatchStore(Store& store) : store_{store} {}

  Batches::Submitted insert(BatchId id, const NewBatch& batch) override;
  Appended append(BatchId id, std::span<const BatchRow> rows, bool release) override;
  bool abort(BatchId id, std::span<const NewTask> follow_ups) override;
  std::vector<BatchRecord> find(const BatchFilter& filter) override;
  std::vector<RowRecord> rows(const RowFilter& filter) override;
  Exchanged exchange(std::span<const UnitEnd> ends,
                     const std::optional<ClaimRequest>& claim) override;
  std::optional<WallTime> next_due(const ClaimRequest& claim) override;

  std::vector<Renewal> renew(std::span<const Lease> leases, Millis length) override;
  using Leases::orphans;
  std::vector<Orphan> orphans(int limit, std::span<const WorkerId> as_if_buried) override;
  const HostFiles* host_files() const override { return &store_.files; }
  std::vector<bool> reclaim(std::span<const Verdict> verdicts, const ReportHead& report) override;

 private:
  Store& store_;
};

}  // namespace holdfast::sqlite
