#pragma once

#include "engines/postgres/store.hpp"
#include "recovery/oom_kills.hpp"
#include "recovery/worker_registry.hpp"

namespace holdfast::postgres {

/// Workers of any number of hosts. The row says who it is and when it was last heard of; an
/// advisory lock of its session proves that it lives, as long as the server is not restarted. Its
/// board is a file of its host, so only its neighbours there can say what it was running.
class PostgresWorkerRegistry final : public WorkerRegistry {
 public:
  explicit PostgresWorkerRegistry(Store& store) : store_{store} {}

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
  Store& store_;
  // Read once: the kernel takes longer to count than the server to register a worker.
  const std::uint64_t oom_kills_before_ = oom_kills();
};

}  // namespace holdfast::postgres
