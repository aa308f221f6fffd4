#pragma once

#include "engines/postgres/store.hpp"
#include "tasks/task_store.hpp"

namespace holdfast::postgres {

class PostgresTaskStore final : public TaskStore {
 public:
  explicit PostgresTaskStore(Store& store) : store_{store} {}

  std::vector<Inserted> insert(std::span<const NewTask> tasks) override;
  Exchanged exchange(const Exchange& exchange) override;
  bool exchanges_side_by_side() const override { return true; }
  std::vector<Recorded> record(std::span<const Note> notes) override;
  std::optional<WallTime> next_due(const ClaimRequest& claim) override;
  Wake wait_for_work(Millis timeout) override { return store_.session.wait(timeout); }
  void interrupt() override { store_.session.interrupt(); }

  std::vector<Renewal> renew(std::span<const Lease> leases, Millis length) override;
  using Leases::orphans;
  std::vector<Orphan> orphans(int limit, std::span<const WorkerId> as_if_buried) override;
  const HostFiles* host_files() const override { return &store_.files; }
  std::vector<bool> reclaim(std::span<const Verdict> verdicts, const ReportHead& report) override;
  bool clock_may_be_set() const override { return !store_.dialect->manual_clock(); }

 private:
  Store& store_;
};

}  // namespace holdfast::postgres
