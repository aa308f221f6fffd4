#pragma once

#include "engines/sqlite/store.hpp"
#include "tasks/task_store.hpp"

namespace holdfast::sqlite {

class SqliteTaskStore final : public TaskStore {
 public:
  explicit SqliteTaskStore(Store& store) : store_{store} {}

  std::vector<Inserted> insert(std::span<const NewTask> tasks) override;
  Exchanged exchange(const Exchange& exchange) override;
  std::vector<Recorded> record(std::span<const Note> notes) override;
  std::optional<WallTime> next_due(const ClaimRequest& claim) override;
  Wake wait_for_work(Millis timeout) override;
  void interrupt() override;

  std::vector<Renewal> renew(std::span<const Lease> leases, Millis length) override;
  using Leases::orphans;
  std::vector<Orphan> orphans(int limit, std::span<const WorkerId> as_if_buried) override;
  const HostFiles* host_files() const override { return &store_.files; }
  std::vector<bool> reclaim(std::span<const Verdict> verdicts, const ReportHead& report) override;

 private:
  Store& store_;
};

}  // namespace holdfast::sqlite
