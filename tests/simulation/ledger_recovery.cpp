#include <algorithm>

#include "simulation/ledger.hpp"
#include "tasks/transitions.hpp"

namespace holdfast::sim {

void Ledger::enlisted(WorkerId worker, Millis lease) {
  auto number = static_cast<int>(workers_.size()) + 1;
  workers_[worker].number = number;
  heard_of(worker, lease);
}

void Ledger::heard_of(WorkerId worker, Millis lease) {
  workers_.at(worker).silent_from = clock_.steady() + lease;
}

void Ledger::retired(WorkerId worker) {
  auto& truth = workers_.at(worker);
  truth.retired = !truth.buried;
  truth.alive = false;
  for (auto id : there_) {
    const auto& task = entries_.at(id);
    if (task.held && task.worker == worker) hit(Sometimes::retired_worker_left_claim);
  }
}

void Ledger::died(WorkerId worker, const std::vector<Lease>& running) {
  auto& truth = workers_.at(worker);
  truth.alive = false;
  truth.running_at_death = running;
}

void Ledger::buried(RecoveryRun& run, const Sighting& sighting, bool done) {
  auto& truth = workers_.at(sighting.status.id);
  if (sighting.proven_dead && truth.alive)
    find(Defect::false_proof, fmt::format("w{} is alive", truth.number));
  if (done) {
    if (!sighting.proven_dead && clock_.steady() <= truth.silent_from)
      find(Defect::live_work_taken, fmt::format("w{} was heard of in time", truth.number));
    if (truth.buried || truth.retired)
      find(Defect::unexplained, fmt::format("w{} was buried twice", truth.number));
    truth.buried = true;
    truth.buried_for_silence = !sighting.proven_dead;
    run.buried.insert(sighting.status.id);
    buried_.push_back(sighting.status.id);
  } else if (truth.buried) {
    hit(Sometimes::rival_burial_was_faster);
  } else if (!truth.retired) {
    hit(Sometimes::heartbeat_beat_burial);
  }
}

void Ledger::cleared(RecoveryRun& run, WorkerId worker, bool done) {
  bool holds = std::ranges::any_of(
      there_, [&](TaskId id) { return entries_.at(id).held && entries_.at(id).worker == worker; });
  if (!done) {
    if (holds) hit(Sometimes::clearing_refused);
    return;
  }
  if (holds) find(Defect::unexplained, "a worker was cleared that still holds work");
  run.buried.erase(worker);
  if (half_recovered_.erase(worker) > 0) hit(Sometimes::recovery_finished_by_another);
}

bool Ledger::may_be_taken(const Entry& task) const {
  const auto& truth = workers_.at(task.worker);
  return truth.buried || truth.retired || task.row.lease_until < clock_.steady();
}

void Ledger::reclaimed(RecoveryRun& run, std::span<const Verdict> verdicts,
                       const std::vector<bool>& taken) {
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    taken.at(i) ? take_back(run, verdicts[i]) : not_taken(verdicts[i]);
  observe();
}

void Ledger::take_back(RecoveryRun& run, const Verdict& verdict) {
  auto& task = entry(verdict.lease.id);
  if (task.held != verdict.lease) {
    find(Defect::stale_accepted, fmt::format("{} was taken back under an old token", name(task)));
    return;
  }
  if (!may_be_taken(task))
    find(Defect::live_work_taken,
         fmt::format("{} of w{}", name(task), workers_.at(task.worker).number));
  check_charge(task, verdict, run.action);
  if (verdict.cancel_requested != task.row.cancel_requested)
    find(Defect::unexplained, fmt::format("{} was taken by a verdict that knew nothing of its "
                                          "being called off",
                                          name(task)));
  auto state = verdict.to;
  bool charged = verdict.attempt == task.row.attempt;
  if (charged && state != TaskState::cancelled) ++task.failures;
  if (state == TaskState::failed && run.action != RecoveryAction::fail &&
      task.failures < task.max_attempts)
    find(Defect::false_dead_letter,
         fmt::format("{} after {} of {} attempts", name(task), task.failures, task.max_attempts));
  if (state == TaskState::failed) hit(Sometimes::dead_letter_by_recovery);
  if (state == TaskState::held) hit(Sometimes::quarantined);
  if (state == TaskState::cancelled) hit(Sometimes::cancelled_by_recovery);
  task.crashed = true;
  task.row.state = state;
  task.row.attempt = verdict.attempt;
  task.row.crashes = verdict.crashes;
  task.row.suspect = verdict.suspect;
  task.row.cancel_requested = false;
  task.owner_changed = true;
  task.held.reset();
  ended(task, state);
  task.taken.push_back({task.row.id, state, verdict.attempt, verdict.reason});
  run.taken.push_back(task.taken.back());
  taken_back_.push_back(task.taken.back());
}

void Ledger::not_taken(const Verdict& verdict) {
  const auto& task = entry(verdict.lease.id);
  if (task.held != verdict.lease) {
    hit(Sometimes::rival_recovery_was_faster);
  } else if (verdict.cancel_requested != task.row.cancel_requested) {
    hit(Sometimes::cancelled_after_verdict);
  } else if (may_be_taken(task)) {
    find(Defect::orphan_refused, name(task));
  } else {
    hit(Sometimes::renewal_beat_reclaim);
  }
}

void Ledger::check_charge(const Entry& task, const Verdict& verdict, RecoveryAction action) {
  const auto& truth = workers_.at(task.worker);
  const auto& before = task.row;
  bool died = !truth.alive && !truth.retired;
  bool silent = verdict.expired || truth.buried_for_silence;
  bool running = std::ranges::count(truth.running_at_death, verdict.lease) > 0;
  bool alone = died && running && truth.running_at_death.size() == 1;
  bool charged = verdict.attempt == before.attempt;
  bool crash_charged = verdict.crashes != before.crashes;
  // Ran alone, or was to, each time that leases ran out.
  bool often = silent && before.suspect &&
               before.recoveries >= Settings::Recovery{}.max_uncharged_recoveries;
  auto wrong = [&](std::string_view what) {
    find(Defect::wrong_charge, fmt::format("{}: {}", name(task), what));
  };
  if (crash_charged && (!(alone || often) || verdict.crashes != before.crashes + 1))
    wrong("charged with a crash, and did not run alone");
  if (verdict.to != TaskState::cancelled && charged && !often && !alone &&
      action != RecoveryAction::fail)
    wrong("charged with an attempt that was not its fault");
  if (!charged && verdict.attempt != before.attempt - 1) wrong("an attempt was made up");
  if (verdict.to == TaskState::pending && before.suspect && !verdict.suspect)
    wrong("no suspect any more although it did not finish");
  if (verdict.suspect && !before.suspect && !running && !truth.retired && !silent)
    wrong("a suspect although it was not running");
  if (verdict.to == TaskState::held && verdict.crashes < most_crashes_)
    wrong("quarantined before its time");
  if (alone && crash_charged) hit(Sometimes::culprit_charged);
  if (died && !running && !silent && !charged) hit(Sometimes::bystander_uncharged);
}

namespace {

std::vector<RecoveryRow> taken_back_in(const RecoveryReport& report) {
  std::vector<RecoveryRow> rows;
  for (const auto& task : report.tasks) {
    if (task.success) rows.push_back({task.id, task.now, task.attempt, task.reason});
  }
  return rows;
}

bool counts_fit(const RecoveryReport& report) {
  OrphanCounts counted;
  for (const auto& task : report.tasks) counted.count(task.now, task.success);
  const auto& said = report.orphans;
  return counted.pending == said.pending && counted.failed == said.failed &&
         counted.held == said.held && counted.cancelled == said.cancelled &&
         counted.not_taken == said.not_taken;
}

}  // namespace

void Ledger::reported(RecoveryRun& run, const RecoveryReport& report) {
  run.reported = true;
  for (const auto& task : report.tasks) {
    if (!task.success && !run.trouble)
      find(Defect::report_mismatch,
           fmt::format("r{} says that it failed: {}", run.number, task.error));
  }
  auto said = taken_back_in(report);
  auto done = run.taken;
  std::ranges::sort(said);
  std::ranges::sort(done);
  if (done != said)
    find(Defect::report_mismatch, fmt::format("r{} did {} things and reports {}, or others",
                                              run.number, done.size(), said.size()));
}

void Ledger::check_reports(const std::vector<RecoveryReport>& reports) {
  std::vector<RecoveryRow> said;
  std::vector<WorkerId> dead;
  for (const auto& report : reports) {
    auto rows = taken_back_in(report);
    said.insert(said.end(), rows.begin(), rows.end());
    for (const auto& worker : report.dead_workers) dead.push_back(worker.id);
    if (!counts_fit(report)) find(Defect::report_mismatch, "a report does not count what it says");
    if (report.state == ReportState::running)
      find(Defect::report_mismatch, "a report is called running, and nobody is left");
    if (report.state == ReportState::interrupted) hit(Sometimes::report_interrupted);
  }
  auto done = taken_back_;
  std::ranges::sort(said);
  std::ranges::sort(done);
  if (said != done)
    find(Defect::report_mismatch,
         fmt::format("{} orphans were taken back, reports name {}", done.size(), said.size()));
  std::ranges::sort(dead);
  std::ranges::sort(buried_);
  if (dead != buried_)
    find(Defect::report_mismatch,
         fmt::format("{} workers were buried, reports name {}", buried_.size(), dead.size()));
}

void Ledger::run_ended(const RecoveryRun& run) {
  if (!run.died && !run.reported && !run.taken.empty())
    find(Defect::report_mismatch, fmt::format("r{} says nothing of what it did", run.number));
  if (!run.died) return;
  half_recovered_.insert(run.buried.begin(), run.buried.end());
  if (!run.taken.empty()) hit(Sometimes::recovery_died_after_reclaim);
}

}  // namespace holdfast::sim
