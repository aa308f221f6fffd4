#include "recovery/expiry_gate.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast {

namespace {

/// Who is alive has renewed its leases after this, even if it was a little late.
Millis patience_with(const WorkerStatus& worker, bool ahead) {
  // Where the clock was set back, only silence that is longer than the lease means anything.
  if (ahead || worker.heartbeat_interval <= Millis{0}) return worker.stale_after;
  return worker.heartbeat_interval * 3 / 2;
}

bool by_age(const Orphan& orphan) { return orphan.expired && !orphan.worker.is_nil(); }

}  // namespace

void ExpiryGate::sift(std::vector<Sighting>& sightings, Millis now) {
  if (!clock_may_be_set_) return;
  std::vector<PastItsTime> seen;
  std::vector<Sighting*> stale;
  std::size_t not_dead = 0;
  for (auto& one : sightings) {
    const auto& id = one.status.id;
    renewed_after_[id] = patience_with(one.status, false);
    if (one.buried || one.proven_dead) continue;
    ++not_dead;
    if (!one.stale) continue;
    seen.push_back({id, {}, one.lease_until, patience_with(one.status, one.ahead)});
    stale.push_back(&one);
  }
  const auto over = watch_.look_at_workers(seen, not_dead, now);
  for (std::size_t i = 0; i < over.size(); ++i) stale[i]->stale = over[i];
  workers_waiting_ = std::ranges::count(over, false);
}

void ExpiryGate::sift(std::vector<Orphan>& orphans, bool all, Millis now) {
  if (!clock_may_be_set_) return;
  std::vector<PastItsTime> seen;
  for (const auto& one : orphans)
    if (by_age(one)) seen.push_back({one.worker, one.lease, one.lease_until, renewed_after(one)});
  const auto over = watch_.look_at_leases(seen, all, now);
  std::size_t next = 0;
  leases_waiting_ = static_cast<std::int64_t>(
      std::erase_if(orphans, [&](const Orphan& one) { return by_age(one) && !over[next++]; }));
}

Millis ExpiryGate::renewed_after(const Orphan& orphan) const {
  const auto known = renewed_after_.find(orphan.worker);
  const auto usual = known == renewed_after_.end() ? Millis{0} : known->second;
  if (usual > Millis{0} && !orphan.ahead) return usual;
  // Its worker came since we looked at workers, or the clock was set back.
  return std::max(Settings::Heartbeat{}.lease(), 2 * usual);
}

std::string to_text(const ExpiryWatch::Mass& mass) {
  return fmt::format(
      "Mass expiry: {} of {} workers seem to have stopped renewing at once. The server's clock was "
      "set, or the server or a network stood still. What is not renewed is taken back, slowly.",
      mass.workers, mass.of);
}

}  // namespace holdfast
