#include "recovery/worker_registry.hpp"

namespace holdfast {

DeadWorker dead_worker(const Sighting& sighting) {
  const auto& status = sighting.status;
  auto evidence = status.evidence.empty() ? sighting.remains.evidence : status.evidence;
  auto cause = status.cause.empty() ? status.proof : status.cause;
  return {status.id, status.host, status.pid, status.last_heartbeat, cause, evidence};
}

}  // namespace holdfast
