#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <holdfast/inspector.hpp>

namespace holdfast {

/// Whether work of dead workers waits to be taken back, and what recovery ever did.
struct RecoveryStatus {
  std::int64_t waiting = 0;      ///< orphans
  std::size_t dead_workers = 0;  ///< not declared dead yet
  int workers[3] = {};           ///< by state
  bool at_work = false;          ///< a recovery is running now
  std::string alarm{};           ///< a mass expiry that this process sees; mostly empty
  std::optional<RecoveryReport> last{};
  RecoveryTotals totals{};
  std::string_view level{};
  std::string reason{};  ///< why that is not normal

  int count(WorkerState state) const { return workers[static_cast<std::size_t>(state)]; }
};
RecoveryStatus recovery_status(const Engine& engine);

/// The documented JSON of it.
std::string recovery_status_json(const RecoveryStatus& status);

}  // namespace holdfast
