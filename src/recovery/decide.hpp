#pragma once

#include <holdfast/settings.hpp>

#include "recovery/leases.hpp"
#include "recovery/worker_registry.hpp"

namespace holdfast {

/// What is to become of an orphan: the policy of recovery, without any store.
///
/// If its worker is dead, `remains` (null if there are none) says what that was running: work that
/// was not among it had not started and is innocent; work that was running beside other work is a
/// suspect and runs alone next; work that was running alone is charged with the crash, and held
/// when it has been charged `max_recovery_attempts` times.
///
/// Where only the lease ran out (`orphan.expired`: the worker may be alive), where only the server
/// ended that spoke for a remote worker, where the machine went down with the worker, or nothing
/// says what that was running, no task is to blame: unless that happens again and again. What was
/// taken back `max_uncharged_recoveries` times runs alone from then on, and is charged if it
/// happens once more.
///
/// A transaction is charged only where its worker ended itself: by a fatal signal, or for want of
/// memory. Where it would be held, it rests for a quarter of an hour, and its crashes are
/// forgotten.
///
/// `random01` in [0, 1) spreads the back-off.
Verdict decide(const Orphan& orphan, const Remains* remains, const Settings::Recovery& settings,
               double random01);

}  // namespace holdfast
