#pragma once

#include <string>
#include <vector>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/worker_files.hpp"
#include "recovery/worker_registry.hpp"

namespace holdfast::sqlite {

/// A row of holdfast_workers.
struct WorkerRow {
  WorkerStatus status;
  std::string clock;      ///< the clock domain that `lease_until` is read in
  Millis lease{0};        ///< silence that is allowed
  Millis lease_until{0};  ///< steady time
  bool buried = false;
  bool cleared = false;
};

enum class WhichWorkers { not_gone, all };
std::vector<WorkerRow> worker_rows(Connection& db, WhichWorkers which);

std::string profile_json(const WorkerProfile& profile);
std::string ids_json(std::span<const TaskId> ids);

/// Whether two clock domains belong to different runs of the machine. False where it is not known.
bool restarted_between(const std::string& domain, const std::string& other);

/// What the row and the lock (nothing: there is no file) say about a worker: dead for certain,
/// stale, or alive. `clock` and `now` are the clock domain and steady time of this process.
Sighting judge(const WorkerRow& row, std::optional<bool> locked, const std::string& clock,
               Millis now);

}  // namespace holdfast::sqlite
