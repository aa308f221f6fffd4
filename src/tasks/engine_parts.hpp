#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/engine.hpp>

#include "recovery/clock.hpp"
#include "recovery/reports.hpp"
#include "recovery/worker_registry.hpp"
#include "tasks/task_admin.hpp"
#include "tasks/task_store.hpp"

namespace holdfast {

/// What an engine is made of. One class in each engine's folder implements it.
class EngineParts {
 public:
  explicit EngineParts(Settings settings) : settings_{std::move(settings)} {}
  virtual ~EngineParts() = default;

  virtual TaskStore& tasks() = 0;
  virtual TaskAdmin& admin() = 0;
  virtual WorkerRegistry& workers() = 0;
  virtual Reports& reports() = 0;
  virtual const Clock& clock() const = 0;
  virtual std::string name() const = 0;

  /// What may be done with the store, as found when it was opened.
  virtual RunLevel run_level() const { return RunLevel::normal; }
  /// What was found when this process opened the store as the first one. Returned once, so that
  /// the first recovery reports it and no other does.
  virtual std::optional<StartUp> take_start_up() { return {}; }

  const Settings& settings() const { return settings_; }
  Events& events() { return events_; }

 private:
  Settings settings_;
  Events events_;
};

}  // namespace holdfast
