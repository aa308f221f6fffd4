#include "documents/worker_json.hpp"

#include <algorithm>

#include <holdfast/payload.hpp>

#include "documents/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast {

std::string_view to_string(WorkerState state) {
  switch (state) {
    case WorkerState::running:
      return "running";
    case WorkerState::stopped:
      return "stopped";
    case WorkerState::dead:
      return "dead";
  }
  return "";
}

std::string_view standing_of(const WorkerStatus& worker) {
  const bool drains = worker.draining && worker.state == WorkerState::running;
  return drains ? "draining" : to_string(worker.state);
}

std::string worker_json(const WorkerStatus& worker, WallTime now) {
  std::vector<std::string> holding;
  for (const TaskId& id : worker.holding) holding.push_back(id.text());
  return JsonObject{}
      .text("id", worker.id.text())
      .text("host", worker.host)
      .number("pid", worker.pid)
      .text("state", to_string(worker.state))
      .flag("draining", worker.draining)
      .json("paused_kinds", to_payload(worker.paused_kinds))
      .json("troubles", to_payload(worker.troubles))
      .text("proof", worker.proof)
      .text("started_at", iso8601(worker.started_at))
      .text("last_heartbeat", iso8601(worker.last_heartbeat))
      .number("heartbeat_age_ms", (now - worker.last_heartbeat).count())
      .number("heartbeat_interval_ms", worker.heartbeat_interval.count())
      .number("stale_after_ms", worker.stale_after.count())
      .json("queues", json_array(worker.queues))
      .json("kinds", json_array(worker.kinds))
      .number("concurrency", worker.concurrency)
      .json("holding", json_array(holding))
      .json("cause", worker.cause.empty() ? "" : json_string(worker.cause))
      .json("evidence", worker.evidence.empty() ? "" : json_string(worker.evidence))
      .str();
}

void running_first(std::vector<WorkerStatus>& workers) {
  std::stable_sort(workers.begin(), workers.end(), [](const auto& one, const auto& other) {
    return one.state == WorkerState::running && other.state != WorkerState::running;
  });
}

}  // namespace holdfast
