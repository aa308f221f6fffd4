#pragma once

#include <map>
#include <vector>

#include "recovery/expiry_watch.hpp"
#include "recovery/leases.hpp"
#include "recovery/worker_registry.hpp"

namespace holdfast {

/// Stands between what a store calls expired and a run of recovery: keeps back what may be renewed
/// yet. Where leases end by a clock that nobody can set, it lets everything pass.
class ExpiryGate {
 public:
  ExpiryGate(ExpiryWatch& watch, bool clock_may_be_set)
      : watch_{watch}, clock_may_be_set_{clock_may_be_set} {}

  /// Those against whom only their age speaks, and not for long enough yet, are not stale.
  void sift(std::vector<Sighting>& sightings, Millis now);
  /// The same of leases: those that may be renewed yet are left out. `all`: there are no others.
  void sift(std::vector<Orphan>& orphans, bool all, Millis now);

  /// What was kept back by the last looks.
  std::int64_t waiting() const { return workers_waiting_ + leases_waiting_; }

 private:
  Millis renewed_after(const Orphan& orphan) const;

  ExpiryWatch& watch_;
  bool clock_may_be_set_;
  std::map<WorkerId, Millis> renewed_after_;
  std::int64_t workers_waiting_ = 0;
  std::int64_t leases_waiting_ = 0;
};

/// What the alarm says.
std::string to_text(const ExpiryWatch::Mass& mass);

}  // namespace holdfast
