#pragma once

#include "batches/batch_store.hpp"

namespace holdfast {

/// The units of batches in the shape of tasks: what runs, renews and recovers tasks does the same
/// for rows and summaries, and there is no second mechanism for it.
class UnitStore final : public TaskStore {
 public:
  /// `tasks` is the engine's, for waking each other.
  UnitStore(BatchStore& batches, TaskStore& tasks, const BatchOptions& options)
      : batches_{batches}, tasks_{tasks}, options_{options} {}

  /// Units come with their batch: throws `InvalidRequest`.
  std::vector<Inserted> insert(std::span<const NewTask> tasks) override;
  Exchanged exchange(const Exchange& exchange) override;
  /// Units keep no notes.
  std::vector<Recorded> record(std::span<const Note> notes) override;
  std::optional<WallTime> next_due(const ClaimRequest& claim) override;
  Wake wait_for_work(Millis timeout) override { return tasks_.wait_for_work(timeout); }
  void interrupt() override { tasks_.interrupt(); }

  std::vector<Renewal> renew(std::span<const Lease> leases, Millis length) override;
  using Leases::orphans;
  std::vector<Orphan> orphans(int limit, std::span<const WorkerId> as_if_buried) override;
  std::vector<bool> reclaim(std::span<const Verdict> verdicts, const ReportHead& report) override;

 private:
  BatchStore& batches_;
  TaskStore& tasks_;
  BatchOptions options_;
};

}  // namespace holdfast
