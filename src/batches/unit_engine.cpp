#include "batches/unit_engine.hpp"

#include <holdfast/error.hpp>

namespace holdfast {

UnitEngine::UnitEngine(Engine engine, const BatchOptions& options)
    : EngineParts{engine.settings()},
      engine_{std::move(engine)},
      units_{batch_store_of(engine_), inner().tasks(), options} {}

BatchStore& batch_store_of(const Engine& engine) {
  if (auto* store = engine.parts().batch_store()) return *store;
  throw InvalidRequest{engine.name() + " cannot keep batches; use SQLite or PostgreSQL for them"};
}

}  // namespace holdfast
