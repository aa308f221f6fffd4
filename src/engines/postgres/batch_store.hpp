#pragma once

#include <mutex>

#include "batches/batch_store.hpp"
#include "engines/postgres/store.hpp"

namespace holdfast::postgres {

/// Batches in tables that other programs may use as well: everything that they would not understand
/// is in tables of our own beside them.
class PostgresBatchStore final : public BatchStore {
 public:
  explicit PostgresBatchStore(Store& store) : store_{store} {}

  Batches::Submitted insert(BatchId id, const NewBatch& batch) override;
  Appended append(BatchId id, std::span<const BatchRow> rows, bool release) override;
  bool abort(BatchId id, std::span<const NewTask> follow_ups) override;
  std::vector<BatchRecord> find(const BatchFilter& filter) override;
  std::vector<RowRecord> rows(const RowFilter& filter) override;
  Exchanged exchange(std::span<const UnitEnd> ends,
                     const std::optional<ClaimRequest>& claim) override;
  bool exchanges_side_by_side() const override { return true; }
  std::optional<WallTime> next_due(const ClaimRequest& claim) override;
  bool is_shared() const override { return true; }
  std::vector<UnclaimedRow> unclaimed(const Unclaimed& which) override;
  void claim_for_nobody(std::span<const UnclaimedRow> rows) override;

  std::vector<Renewal> renew(std::span<const Lease> leases, Millis length) override;
  using Leases::orphans;
  std::vector<Orphan> orphans(int limit, std::span<const WorkerId> as_if_buried) override;
  const HostFiles* host_files() const override { return &store_.files; }
  std::vector<bool> reclaim(std::span<const Verdict> verdicts, const ReportHead& report) override;
  bool clock_may_be_set() const override { return !store_.dialect->manual_clock(); }

 private:
  /// The tables are made when something is first put into them.
  Store& store();
  /// Looking makes none: false, if there are none. Throws `StoreUnusable` if they were to be in a
  /// schema that was named, which may be a mistake.
  bool has_tables();

  Store& store_;
  std::mutex preparing_;
  bool prepared_ = false;
};

}  // namespace holdfast::postgres
