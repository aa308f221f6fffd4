#include "batches/unit_engine.hpp"

#include <holdfast/error.hpp>

namespace holdfast {

namespace {

/// In the proportions of the services that we share the tables with: a heartbeat is believed for
/// two intervals, and what it said about rows for three times as long.
Liveness::Times times_of(const Settings& settings) {
  auto believed = 2 * settings.heartbeat.interval;
  return {.heartbeat = believed, .rows = 3 * believed};
}

}  // namespace

UnitEngine::UnitEngine(Engine engine, const BatchOptions& options)
    : EngineParts{engine.settings()},
      engine_{std::move(engine)},
      liveness_{options.liveness},
      units_{batch_store_of(engine_), inner().tasks(), options,
             SecondOpinion{batch_store_of(engine_), liveness_.get(), &inner().events(),
                           options.queue_unclaimed_after, times_of(settings()), inner().clock(),
                           recovery_memory()},
             make_presence()} {}

Presence* UnitEngine::make_presence() {
  if (!liveness_) return nullptr;
  presence_.emplace(liveness_, batch_store_of(engine_), inner().events(), times_of(settings()));
  telling_workers_.emplace(inner().workers(), *presence_);
  return &*presence_;
}

BatchStore& batch_store_of(const Engine& engine) {
  if (auto* store = engine.parts().batch_store()) return *store;
  throw InvalidRequest{engine.name() + " cannot keep batches; use SQLite or PostgreSQL for them"};
}

}  // namespace holdfast
