#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include <holdfast/events.hpp>

#include "recovery/clock.hpp"
#include "recovery/leases.hpp"
#include "recovery/recovery_memory.hpp"
#include "recovery/reports.hpp"
#include "recovery/worker_registry.hpp"

namespace holdfast {

/// Takes back what dead workers held. Does one run when told to; when that is, is the callers'
/// affair (at start-up, at a death, every so often, when an operator asks).
///
/// Safe in many processes at once and repeatable at any point: each step is a compare-and-set in
/// the store, and a run that died half-way is finished by the next one.
class Recovery {
 public:
  /// A number in [0, 1) each time it is called.
  using Random = std::function<double()>;
  /// Lets others come to an end with what they are at.
  using Pause = std::function<void(std::stop_token)>;

  /// `memory` is what other recoveries of this process see of the same work; null: this object's
  /// own.
  Recovery(Leases& leases, WorkerRegistry& workers, Reports& reports, Events& events,
           const Clock& clock, Settings::Recovery settings, Random random = {}, Pause pause = {},
           RecoveryMemory* memory = nullptr);

  /// Buries who is dead, takes back what they held, clears up after them, and reports. The report
  /// is stored if anything was found, `start_up` included. When `stop` is requested it ends after
  /// the step at hand, with a report of what was done until then.
  RecoveryReport run_once(std::string_view trigger, std::stop_token stop = {},
                          const std::optional<StartUp>& start_up = {});

  /// What `run_once` would do now, or when it looks again. Nothing is written, and nobody is told.
  RecoveryReport plan(std::string_view trigger);

  /// When the next run should be at the latest, on the steady clock: the last one saw leases past
  /// their time, which need a second look. `Millis::max()`: nothing waits for it.
  Millis look_again() const;

 private:
  class Run;

  Leases& leases_;
  WorkerRegistry& workers_;
  Reports& reports_;
  Events& events_;
  const Clock& clock_;
  Settings::Recovery settings_;
  Random random_;
  Pause pause_;
  std::unique_ptr<RecoveryMemory> own_memory_;
  RecoveryMemory& memory_;
};

}  // namespace holdfast
