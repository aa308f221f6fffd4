#pragma once

#include <string>
#include <vector>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/worker_files.hpp"
#include "recovery/roster.hpp"

namespace holdfast::sqlite {

/// A row of holdfast_workers.
struct WorkerRow : RosterRow {
  std::string clock{};  ///< the clock domain that `lease_until` is read in
};

enum class WhichWorkers { not_gone, all };
std::vector<WorkerRow> worker_rows(Connection& db, WhichWorkers which);

/// What the row and the lock (nothing: there is no file) say about a worker: dead for certain,
/// stale, or alive. `clock` and `now` are the clock domain and steady time of this process.
Sighting judge(WorkerRow row, std::optional<bool> locked, const std::string& clock, Millis now);

}  // namespace holdfast::sqlite
