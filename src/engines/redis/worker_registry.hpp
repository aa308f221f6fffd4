#pragma once

#include <mutex>

#include "engines/redis/store.hpp"
#include "engines/redis/worker_rows.hpp"
#include "recovery/oom_kills.hpp"
#include "recovery/worker_registry.hpp"

namespace holdfast::redis {

class RedisWorkerRegistry final : public WorkerRegistry {
 public:
  explicit RedisWorkerRegistry(Store& store) : store_{store} {}

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
  bool somebody_died(std::size_t& workers);
  void warn_of_holes();

  Store& store_;
  std::once_flag warned_;
  std::uint64_t oom_kills_before_ = oom_kills();
};

}  // namespace holdfast::redis
