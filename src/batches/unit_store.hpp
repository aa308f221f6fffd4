#pragma once

#include <mutex>

#include "batches/presence.hpp"
#include "batches/second_opinion.hpp"

namespace holdfast {

/// The units of batches in the shape of tasks: what runs, renews and recovers tasks does the same
/// for rows and summaries, and there is no second mechanism for it.
class UnitStore final : public TaskStore {
 public:
  /// `tasks` is the engine's, for waking each other. `presence` is told what is claimed and ended;
  /// null: nobody is.
  UnitStore(BatchStore& batches, TaskStore& tasks, const BatchOptions& options,
            SecondOpinion opinion, Presence* presence)
      : batches_{batches},
        tasks_{tasks},
        options_{options},
        presence_{presence},
        opinion_{std::move(opinion)} {}

  /// Units come with their batch: throws `InvalidRequest`.
  std::vector<Inserted> insert(std::span<const NewTask> tasks) override;
  Exchanged exchange(const Exchange& exchange) override;
  bool exchanges_side_by_side() const override { return batches_.exchanges_side_by_side(); }
  /// Units keep no notes.
  std::vector<Recorded> record(std::span<const Note> notes) override;
  std::optional<WallTime> next_due(const ClaimRequest& claim) override;
  Wake wait_for_work(Millis timeout) override { return tasks_.wait_for_work(timeout); }
  void interrupt() override { tasks_.interrupt(); }

  std::vector<Renewal> renew(std::span<const Lease> leases, Millis length) override;
  using Leases::orphans;
  std::vector<Orphan> orphans(int limit, std::span<const WorkerId> as_if_buried) override;
  std::vector<bool> reclaim(std::span<const Verdict> verdicts, const ReportHead& report) override;
  bool clock_may_be_set() const override { return batches_.clock_may_be_set(); }
  const HostFiles* host_files() const override { return batches_.host_files(); }

 private:
  BatchStore& batches_;
  TaskStore& tasks_;
  BatchOptions options_;
  Presence* presence_;

  std::mutex mutex_;  // guards what follows: an operator may recover while the worker does
  SecondOpinion opinion_;
};

}  // namespace holdfast
