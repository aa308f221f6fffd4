#pragma once

#include "engines/sqlite/death_watch.hpp"
#include "engines/sqlite/store.hpp"
#include "recovery/oom_kills.hpp"
#include "recovery/worker_registry.hpp"

namespace holdfast::sqlite {

/// Workers of one host. The row says who it is and when it was last heard of; the lock on its file
/// proves whether it lives.
class SqliteWorkerRegistry final : public WorkerRegistry {
 public:
  explicit SqliteWorkerRegistry(Store& store) : store_{store}, deaths_{store.files} {}

  std::unique_ptr<Enlistment> enlist(const WorkerProfile& profile) override;
  bool beat(WorkerId worker, std::span<const TaskId> holding, std::string_view figures) override;
  void retire(WorkerId worker, std::string_view figures) override;
  std::vector<Sighting> look() override;
  bool bury(const Sighting& sighting, const ReportHead& report) override;
  bool clear(WorkerId worker) override;
  bool wait_for_death(Millis timeout, std::stop_token stop) override;
  std::vector<WorkerStatus> list() override;
  std::vector<ToldFigures> figures(Millis within) override;

 private:
  void forget_old_rows(Connection& db);

  Store& store_;
  // Read once: the kernel takes longer to count than SQLite to register a worker.
  const std::uint64_t oom_kills_before_ = oom_kills();
  DeathWatch deaths_;
};

}  // namespace holdfast::sqlite
