#include "recovery/recovery.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include <holdfast/error.hpp>

#include "recovery/decide.hpp"

namespace holdfast {

namespace {

constexpr int orphans_at_once = 500;
/// So often one run tries to take back the same orphan.
constexpr int enough = 3;
constexpr std::string_view recovery_actor = "system/recovery";

Recovery::Random machine_random() {
  return [dice = std::mt19937_64{std::random_device{}()}]() mutable {
    return std::uniform_real_distribution<double>{0.0, 1.0}(dice);
  };
}

DeadWorker dead_worker(const Sighting& sighting) {
  const auto& status = sighting.status;
  auto evidence = status.evidence.empty() ? sighting.remains.evidence : status.evidence;
  auto cause = status.cause.empty() ? status.proof : status.cause;
  return {status.id, status.host, status.pid, status.last_heartbeat, cause, evidence};
}

}  // namespace

/// One run: what it has seen and done so far.
class Recovery::Run {
 public:
  Run(Recovery& recovery, std::string_view trigger, std::stop_token stop)
      : recovery_{recovery}, stop_{std::move(stop)}, began_{recovery.clock_.steady()} {
    report_.trigger = trigger;
    report_.started_at = recovery.clock_.wall();
  }

  RecoveryReport carry_out() {
    recovery_.events_.emit(RecoveryStarted{report_.trigger});
    look_and_bury();
    take_back_orphans();
    clear_up();
    file_report();
    recovery_.events_.emit(RecoveryCompleted{report_});
    return std::move(report_);
  }

 private:
  /// A worker that is dead as far as the store is concerned.
  struct Buried {
    Sighting sighting;
    bool reported = false;
  };

  void look_and_bury() {
    for (auto& sighting : recovery_.workers_.look()) {
      if (stop_.stop_requested()) return;
      auto id = sighting.status.id;
      if (buried_.contains(id)) continue;
      if (sighting.buried) {
        // Somebody else did it, and may be at work on it or may have died over it.
        buried_[id] = {std::move(sighting)};
      } else if (sighting.proven_dead || sighting.stale) {
        if (!recovery_.workers_.bury(sighting)) continue;
        recovery_.events_.emit(WorkerDied{dead_worker(sighting)});
        auto& buried = buried_[id] = {std::move(sighting)};
        report_dead(buried);
      }
    }
  }

  void take_back_orphans() {
    while (!stop_.stop_requested()) {
      auto orphans = recovery_.leases_.orphans(orphans_at_once);
      report_stubborn(orphans);
      std::erase_if(orphans, [&](const Orphan& orphan) { return tries_[orphan.lease] == enough; });
      if (orphans.empty() || !take_back(orphans)) return;
    }
  }

  /// Once is no news: it was renewed and ran out again, or somebody asked it to stop meanwhile.
  /// What still is an orphan after several refusals did not go to somebody else, so the report
  /// names it.
  void report_stubborn(std::span<const Orphan> orphans) {
    for (const auto& orphan : orphans) {
      auto refused = refused_.find(orphan.lease);
      if (refused == refused_.end() || tries_[orphan.lease] < enough) continue;
      auto& entry = report_.tasks.emplace_back(std::move(refused->second));
      entry.success = false;
      entry.now = TaskState::running;
      entry.error = "The store refused to take it back although it is an orphan.";
      refused_.erase(refused);
    }
  }

  bool take_back(std::span<const Orphan> orphans) {
    look_again_if_needed(orphans);
    std::vector<Verdict> verdicts;
    for (const auto& orphan : orphans) {
      verdicts.push_back(judge(orphan));
      ++tries_[orphan.lease];
    }
    std::vector<bool> taken;
    try {
      taken = recovery_.leases_.reclaim(verdicts);
    } catch (const StorageFailed&) {
      throw;
    } catch (const StoreError& trouble) {
      for (std::size_t i = 0; i < orphans.size(); ++i) report_failure(orphans[i], trouble.what());
      return false;
    }
    for (std::size_t i = 0; i < orphans.size(); ++i) {
      if (taken[i])
        report_taken(orphans[i], verdicts[i]);
      else
        refused_[orphans[i].lease] = entry_for(orphans[i], verdicts[i]);
    }
    return true;
  }

  /// A worker may have died and been buried by somebody else since we looked. Its board says what
  /// its work is to be charged with, so it must be read before we judge.
  void look_again_if_needed(std::span<const Orphan> orphans) {
    bool unknown = std::ranges::any_of(orphans, [&](const Orphan& orphan) {
      return !orphan.expired && !buried_.contains(orphan.worker);
    });
    if (unknown) look_and_bury();
  }

  Verdict judge(const Orphan& orphan) {
    auto found = buried_.find(orphan.worker);
    const Sighting* sighting = found == buried_.end() ? nullptr : &found->second.sighting;
    auto seen_as = orphan;
    // A worker that was buried for its silence may be alive: what is on its board says nothing
    // about a crash, so its work is treated as that of any lease that ran out.
    if (sighting && !sighting->proven_dead) seen_as.expired = true;
    auto verdict =
        decide(seen_as, sighting ? &sighting->remains : nullptr, recovery_.settings_.action,
               recovery_.settings_.max_recovery_attempts, recovery_.random_());
    verdict.expired = orphan.expired;
    return verdict;
  }

  RecoveredTask entry_for(const Orphan& orphan, const Verdict& verdict) const {
    RecoveredTask entry;
    entry.id = orphan.lease.id;
    entry.action = recovery_.settings_.action;
    entry.now = verdict.to;
    entry.attempt = verdict.attempt;
    entry.max_attempts = orphan.max_attempts;
    entry.reason = verdict.reason;
    entry.worker = orphan.worker;
    return entry;
  }

  void report_taken(const Orphan& orphan, const Verdict& verdict) {
    report_.tasks.push_back(entry_for(orphan, verdict));
    if (auto owner = buried_.find(orphan.worker); owner != buried_.end())
      report_dead(owner->second);
    if (!recovery_.events_.heard()) return;
    Transition step{TaskState::running,     verdict.to,         std::string{recovery_actor},
                    verdict.reason,         orphan.lease.token, verdict.attempt,
                    recovery_.clock_.wall()};
    recovery_.events_.emit(TaskChanged{orphan.lease.id, orphan.kind, std::move(step)});
  }

  void report_failure(const Orphan& orphan, const std::string& why) {
    auto& entry = report_.tasks.emplace_back(entry_for(orphan, {}));
    entry.now = TaskState::running;
    entry.attempt = orphan.attempt;
    entry.success = false;
    entry.error = why;
  }

  void report_dead(Buried& buried) {
    if (!std::exchange(buried.reported, true))
      report_.dead_workers.push_back(dead_worker(buried.sighting));
  }

  void clear_up() {
    for (const auto& [id, buried] : buried_) {
      if (stop_.stop_requested()) return;
      if (recovery_.workers_.clear(id)) recovery_.events_.emit(WorkerCleared{id});
    }
  }

  void file_report() {
    report_.completed_at = recovery_.clock_.wall();
    report_.duration = recovery_.clock_.steady() - began_;
    if (!report_.found_anything()) return;
    auto before = recovery_.reports_.newest(1);
    report_.stale_writes_refused_ever = recovery_.reports_.stale_writes_refused();
    auto since = report_.stale_writes_refused_ever -
                 (before.empty() ? 0 : before.front().stale_writes_refused_ever);
    report_.stale_writes_refused = static_cast<int>(std::max<std::int64_t>(since, 0));
    recovery_.reports_.file(report_);
  }

  Recovery& recovery_;
  std::stop_token stop_;
  Millis began_;
  RecoveryReport report_{};
  std::map<WorkerId, Buried> buried_;
  std::map<Lease, int> tries_;
  std::map<Lease, RecoveredTask> refused_;  // perhaps somebody else was faster
};

Recovery::Recovery(Leases& leases, WorkerRegistry& workers, Reports& reports, Events& events,
                   const Clock& clock, Settings::Recovery settings, Random random)
    : leases_{leases},
      workers_{workers},
      reports_{reports},
      events_{events},
      clock_{clock},
      settings_{settings},
      random_{random ? std::move(random) : machine_random()} {}

RecoveryReport Recovery::run_once(std::string_view trigger, std::stop_token stop) {
  return Run{*this, trigger, std::move(stop)}.carry_out();
}

}  // namespace holdfast
