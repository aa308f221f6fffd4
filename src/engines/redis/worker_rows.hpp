#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/redis/reply.hpp"
#include "engines/redis/store.hpp"
#include "recovery/roster.hpp"

namespace holdfast::redis {

/// A worker's record.
struct WorkerRow : RosterRow {
  std::string life{};  ///< its connection; see `LifeLine`
};

/// All workers, or those that are running or not cleared yet.
enum class WhichWorkers { not_gone, all };
std::vector<WorkerRow> worker_rows(Store& store, WhichWorkers which);

/// Now, on the clock that leases are judged by.
Millis lease_clock(Store& store);

}  // namespace holdfast::redis
