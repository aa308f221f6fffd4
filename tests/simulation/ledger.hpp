#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "recovery/worker_registry.hpp"
#include "simulation/coverage.hpp"
#include "simulation/probe.hpp"
#include "simulation/trace.hpp"
#include "simulation/virtual_clock.hpp"
#include "tasks/task_admin.hpp"
#include "tasks/task_store.hpp"

namespace holdfast::sim {

/// What must never be seen.
enum class Defect {
  lost,                   ///< inserted, and not in the store any more
  unexpected,             ///< in the store, and nobody asked for it
  stale_accepted,         ///< a write of somebody who does not hold the task was accepted
  holder_refused,         ///< a write of the holder was refused
  settled_twice,          ///< two ends in one generation
  false_repeat,           ///< called repeated, and was never accepted
  token_not_grown,        ///< an owner changed under the same or a smaller token
  unexplained,            ///< a task changed although nobody did anything to it
  wrong_claim,            ///< claimed what was not there to be claimed, or by a dead worker
  over_limit,             ///< more attempts or crashes than allowed
  live_work_taken,        ///< recovery took what was neither orphaned nor past its lease
  orphan_refused,         ///< recovery was not given an orphan
  false_proof,            ///< a living worker was called dead for certain
  wrong_charge,           ///< charged for a crash or an attempt that was not its fault
  false_dead_letter,      ///< failed without the attempts that would explain it
  suspect_not_alone,      ///< a suspect ran beside other work
  started_past_deadline,  ///< a handler started when its lease was over
  effect_doubled,         ///< an effect changed its value
  report_mismatch,        ///< a recovery report says something else than was done
  refusal_uncounted,      ///< the store's count of refused writes is wrong
  repeat_refused,         ///< an enqueue could not be repeated
  stuck,                  ///< does not come to an end although all faults are over
};
std::string_view to_string(Defect defect);

struct Finding {
  Defect defect = Defect::lost;
  std::string text{};
};

/// How a task behaves whenever it is run.
enum class Nature { good, flaky, bad, hopeless, poison, sleepy, deaf };

/// One task as the simulation knows it.
struct Entry {
  int number = 0;
  Nature nature = Nature::good;
  std::string queue{};
  int max_attempts = 3;
  std::vector<TaskId> after{};  ///< without those that were cancelled since

  TaskRow row{};                ///< as it must be after the last step
  bool owner_changed = false;   ///< in this step, so its token must have grown
  std::optional<Lease> held{};  ///< the claim that may write now
  WorkerId worker{};            ///< who has or had it
  std::set<Token> ended{};      ///< claims whose settlement was accepted
  int ends = 0;                 ///< in this generation; an operator's retry begins another
  int failures = 0;             ///< attempts charged for a reason, in this generation
  bool retried = false;         ///< by an operator, out of a dead letter
  bool crashed = false;         ///< was taken back from a dead worker
  int snoozes = 0;
  std::vector<RecoveryRow> taken{};
  std::map<std::string, std::string> effects{};
};

/// What is true about a worker, as opposed to what the store believes.
struct WorkerTruth {
  int number = 0;
  bool alive = true;  ///< holds its lock
  bool retired = false;
  bool buried = false;
  bool buried_for_silence = false;
  Millis silent_from{};  ///< may be called stale after this
  std::vector<Lease> running_at_death{};
};

/// One run of recovery.
struct RecoveryRun {
  int number = 0;
  RecoveryAction action = RecoveryAction::retry;
  std::vector<RecoveryRow> taken{};
  std::set<WorkerId> buried{};  ///< by this run, and not cleared yet
  bool trouble = false;         ///< the store was away, or a reply was lost
  bool reported = false;
  bool died = false;
};

/// Watches every step that the store took, holds it against what the protocol allows, and keeps
/// what it finds. Knows who really is alive and who really holds what.
class Ledger {
 public:
  Ledger(Probe& probe, const VirtualClock& clock, Trace& trace, Coverage& coverage)
      : probe_{probe}, clock_{clock}, trace_{trace}, coverage_{coverage} {}

  // What the store answered.
  void inserted(const std::vector<NewTask>& tasks);
  void exchanged(const Exchange& exchange, const Exchanged& answer);
  void renewed(const std::vector<Lease>& leases, const std::vector<Renewal>& renewals);
  void recorded(const Note& note, const Recorded& answer);
  void moved(TaskId id, const TaskAdmin::Move& move);
  void buried(RecoveryRun& run, const Sighting& sighting, bool done);
  void cleared(RecoveryRun& run, WorkerId worker, bool done);
  void reclaimed(RecoveryRun& run, std::span<const Verdict> verdicts,
                 const std::vector<bool>& taken);
  void reported(RecoveryRun& run, const RecoveryReport& report);
  void run_ended(const RecoveryRun& run);

  // What happened to workers.
  void enlisted(WorkerId worker, Millis lease);
  void heard_of(WorkerId worker, Millis lease);
  void retired(WorkerId worker);
  void died(WorkerId worker, const std::vector<Lease>& running);
  void handed_out(const Lease& lease, Millis deadline);
  void started(const Claimed& claimed, int beside);

  /// After the last step, when all faults are over.
  void check_end();
  /// Holds the reports that are in the store, of runs that died too, against what was done.
  void check_reports(const std::vector<RecoveryReport>& reports);

  void paused(const std::string& queue, bool paused);
  void limit_crashes(int most) { most_crashes_ = most; }

  Entry& plan(TaskId id, Nature nature);
  Entry& entry(TaskId id) { return entries_.at(id); }
  const std::map<TaskId, Entry>& entries() const { return entries_; }
  const WorkerTruth& worker(WorkerId id) const { return workers_.at(id); }
  bool in_store(TaskId id) const;
  bool all_over() const;
  bool quiet() const;                        ///< nobody holds a task
  bool claimable() const;                    ///< a worker that asks now may get something
  std::optional<WallTime> next_due() const;  ///< of what waits for nothing but its time

  void find(Defect defect, std::string text);
  const std::vector<Finding>& findings() const { return findings_; }
  void hit(Sometimes point) { coverage_.hit(point); }

 private:
  void settled(const Settlement& settlement, Settled answer);
  void accept(Entry& entry, const Settlement& settlement);
  void claimed(const Claimed& claimed, WorkerId worker);
  void ended(Entry& entry, TaskState state);
  void take_back(RecoveryRun& run, const Verdict& verdict);
  void not_taken(const Verdict& verdict);
  void check_charge(const Entry& entry, const Verdict& verdict, RecoveryAction action);
  bool may_be_taken(const Entry& entry) const;
  void observe(std::optional<TaskId> moved_by_person = {});
  void compare(Entry& entry, const TaskRow& row, bool moved_by_person);
  bool waits_for_nothing(const Entry& entry) const;
  void check_dependency(const Entry& entry, const TaskRow& row);
  std::string name(const Entry& entry) const;

  Probe& probe_;
  const VirtualClock& clock_;
  Trace& trace_;
  Coverage& coverage_;
  std::map<TaskId, Entry> entries_;  // planned or in the store
  std::set<TaskId> there_;           // in the store
  std::map<WorkerId, WorkerTruth> workers_;
  std::set<std::string> paused_;
  std::set<WorkerId> half_recovered_;  // a recovery died over these
  std::int64_t refusals_ = 0;
  std::vector<RecoveryRow> taken_back_;  // by all recoveries
  std::vector<WorkerId> buried_;
  int most_crashes_ = 3;
  WallTime latest_wall_{};
  std::vector<Finding> findings_;
};

}  // namespace holdfast::sim
