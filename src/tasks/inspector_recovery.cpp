#include <algorithm>
#include <map>

#include <holdfast/inspector.hpp>

#include "tasks/recovery_of.hpp"

namespace holdfast {

namespace {

/// The claims that a worker holds on these tasks. Whoever speaks for a worker knows tasks, not
/// tokens; the worker's id is as good, because no other process ever has it.
std::vector<Lease> claims_of(EngineParts& parts, WorkerId worker, const std::vector<TaskId>& ids) {
  std::vector<Lease> claims;
  if (ids.empty()) return claims;
  TaskFilter filter;
  filter.ids = ids;
  filter.states = {TaskState::running};
  for (const auto& task : parts.admin().search(filter, {.limit = static_cast<int>(ids.size())})) {
    if (task.worker == worker) claims.push_back({task.id, task.token});
  }
  return claims;
}

}  // namespace

std::vector<RecoveryReport> Inspector::reports(int newest, int tasks_of_each) const {
  return engine_.parts().reports().newest(newest, tasks_of_each);
}

RecoveryTotals Inspector::recovery_totals() const { return engine_.parts().reports().totals(); }

std::string Inspector::why_read_only() const { return engine_.parts().why_read_only(); }

std::optional<StartUp> Inspector::standing_trouble() const {
  return engine_.parts().standing_trouble();
}

RecoveryReport Inspector::recover(std::optional<RecoveryAction> action, std::stop_token stop) {
  auto& parts = engine_.parts();
  require_writable(parts);
  return recovery_of(parts, action).run_once("operator", std::move(stop), parts.take_start_up());
}

RecoveryReport Inspector::plan_recovery(std::optional<RecoveryAction> action) const {
  return recovery_of(engine_.parts(), action).plan("operator");
}

std::vector<StaleWorker> Inspector::detect_stale_workers() const {
  auto& parts = engine_.parts();
  std::vector<StaleWorker> stale;
  std::vector<WorkerId> ids;
  std::map<WorkerId, std::size_t> places;
  for (const auto& sighting : parts.workers().look()) {
    if (sighting.buried || !(sighting.proven_dead || sighting.stale)) continue;
    const auto& status = sighting.status;
    places[status.id] = stale.size();
    ids.push_back(status.id);
    stale.push_back({status.id, status.last_heartbeat, {}, sighting.proven_dead, status.cause});
  }
  if (stale.empty()) return stale;
  for (const auto& orphan : parts.tasks().orphans(std::numeric_limits<int>::max(), ids)) {
    if (auto place = places.find(orphan.worker); place != places.end())
      stale[place->second].tasks.push_back(orphan.lease.id);
  }
  return stale;
}

HeartbeatAnswer Inspector::send_heartbeat(WorkerId worker, const std::vector<TaskId>& tasks) {
  auto& parts = engine_.parts();
  HeartbeatAnswer answer;
  answer.stop = tasks;
  answer.accepted = parts.workers().beat(worker, tasks);
  if (!answer.accepted) return answer;
  auto claims = claims_of(parts, worker, tasks);
  auto renewals = parts.tasks().renew(claims, parts.settings().heartbeat.lease());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (renewals[i] == Renewal::kept) std::erase(answer.stop, claims[i].id);
  }
  return answer;
}

}  // namespace holdfast
