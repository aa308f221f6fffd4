#include "recovery/worker_registry.hpp"

#include <fmt/format.h>

namespace holdfast {

DeadWorker dead_worker(const Sighting& sighting) {
  const auto& status = sighting.status;
  auto evidence = status.evidence.empty() ? sighting.remains.evidence : status.evidence;
  auto cause = status.cause.empty() ? status.proof : status.cause;
  return {status.id, status.host, status.pid, status.last_heartbeat, cause, evidence};
}

std::string silence_text(Millis silent, bool ahead, std::string_view proof) {
  if (ahead) return fmt::format("its lease ends in the future: the clock was set back; {}", proof);
  return fmt::format("silent for {} s; {}",
                     std::chrono::duration_cast<std::chrono::seconds>(silent).count(), proof);
}

}  // namespace holdfast
