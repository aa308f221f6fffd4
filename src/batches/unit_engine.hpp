#pragma once

#include <optional>

#include "batches/telling_workers.hpp"
#include "batches/unit_store.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast {

/// An engine whose tasks are the units of batches, and which is the engine that keeps the batches
/// in everything else: workers, reports and events are shared with those of tasks.
class UnitEngine final : public EngineParts {
 public:
  /// Throws `InvalidRequest` if the engine cannot keep batches.
  UnitEngine(Engine engine, const BatchOptions& options);

  TaskStore& tasks() override { return units_; }
  TaskAdmin& admin() override { return inner().admin(); }
  WorkerRegistry& workers() override {
    if (telling_workers_) return *telling_workers_;
    return inner().workers();
  }
  Reports& reports() override { return inner().reports(); }
  const Clock& clock() const override { return inner().clock(); }
  std::string name() const override { return inner().name(); }
  Events& events() override { return inner().events(); }
  RecoveryMemory& recovery_memory() override { return inner().row_recovery_memory(); }
  RunLevel run_level() const override { return inner().run_level(); }
  std::string why_read_only() const override { return inner().why_read_only(); }
  std::optional<StartUp> standing_trouble() const override { return inner().standing_trouble(); }
  std::string durability() const override { return inner().durability(); }
  std::string durability_warning() const override { return inner().durability_warning(); }
  std::optional<StartUp> take_start_up() override { return inner().take_start_up(); }
  IntegrityResult check_integrity(bool full, std::stop_token stop) override {
    return inner().check_integrity(full, std::move(stop));
  }
  std::optional<IntegrityResult> scrub() override { return inner().scrub(); }

 private:
  EngineParts& inner() const { return engine_.parts(); }
  Presence* make_presence();

  Engine engine_;
  std::shared_ptr<Liveness> liveness_;
  std::optional<Presence> presence_;
  std::optional<TellingWorkers> telling_workers_;
  UnitStore units_;
};

/// The batches of an engine; throws `InvalidRequest` if it cannot keep any.
BatchStore& batch_store_of(const Engine& engine);

}  // namespace holdfast
