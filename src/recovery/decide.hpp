#pragma once

#include <holdfast/settings.hpp>

#include "recovery/leases.hpp"
#include "recovery/worker_registry.hpp"

namespace holdfast {

/// What is to become of an orphan: the policy of recovery, without any store.
///
/// An orphan whose lease ran out (`orphan.expired`) has a worker that may be alive, so nothing is
/// known about a crash. Otherwise its worker is dead, and `remains` (null if there are none) says
/// what that was running: work that was not among it had not started and is innocent; work that was
/// running beside other work is a suspect and runs alone next; work that was running alone is
/// charged with the crash, and held when it has been charged `max_crashes` times.
///
/// `random01` in [0, 1) spreads the back-off.
Verdict decide(const Orphan& orphan, const Remains* remains, RecoveryAction action, int max_crashes,
               double random01);

}  // namespace holdfast
