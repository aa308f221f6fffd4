#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/redis/reply.hpp"
#include "engines/redis/store.hpp"
#include "recovery/worker_registry.hpp"

namespace holdfast::redis {

/// A worker's record.
struct WorkerRow {
  WorkerStatus status;
  std::string boot;       ///< of the machine that it runs on
  std::string life;       ///< its connection; see `LifeLine`
  Millis lease_until{0};  ///< on the clock of leases
  bool buried = false;
  bool proven = false;  ///< buried because its connection was gone, not for its silence
  bool cleared = false;
  std::optional<Remains> remains{};  ///< as they were when it was buried
};

/// All workers, or those that are running or not cleared yet.
enum class WhichWorkers { not_gone, all };
std::vector<WorkerRow> worker_rows(Store& store, WhichWorkers which);

std::string profile_json(const WorkerProfile& profile);
std::string host_name();

/// Now, on the clock that leases are judged by.
Millis lease_clock(Store& store);

}  // namespace holdfast::redis
