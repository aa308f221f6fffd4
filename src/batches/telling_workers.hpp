#pragma once

#include "batches/presence.hpp"
#include "recovery/worker_registry.hpp"

namespace holdfast {

/// A registry whose workers also say elsewhere that they live.
class TellingWorkers final : public WorkerRegistry {
 public:
  TellingWorkers(WorkerRegistry& inner, Presence& presence) : inner_{inner}, presence_{presence} {}

  std::unique_ptr<Enlistment> enlist(const WorkerProfile& profile) override {
    auto enlisted = inner_.enlist(profile);
    presence_.begin(enlisted->id());
    return enlisted;
  }
  bool beat(WorkerId worker, std::span<const TaskId> holding, std::string_view figures) override {
    presence_.beat(holding);
    return inner_.beat(worker, holding, figures);
  }
  void retire(WorkerId worker, std::string_view figures) override {
    inner_.retire(worker, figures);
    presence_.end();
  }
  std::vector<Sighting> look() override { return inner_.look(); }
  bool bury(const Sighting& sighting, const ReportHead& report) override {
    return inner_.bury(sighting, report);
  }
  bool clear(WorkerId worker) override { return inner_.clear(worker); }
  bool wait_for_death(Millis timeout, std::stop_token stop) override {
    return inner_.wait_for_death(timeout, std::move(stop));
  }
  std::vector<WorkerStatus> list() override { return inner_.list(); }
  std::vector<ToldFigures> figures(Millis within) override { return inner_.figures(within); }

 private:
  WorkerRegistry& inner_;
  Presence& presence_;
};

}  // namespace holdfast
