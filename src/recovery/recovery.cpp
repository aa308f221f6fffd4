#include "recovery/recovery.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <utility>

#include <holdfast/error.hpp>

#include "recovery/actors.hpp"
#include "recovery/child_lock.hpp"
#include "recovery/decide.hpp"
#include "recovery/expiry_gate.hpp"

namespace holdfast {

namespace {

/// Found by one look at the store, and taken back in one commit. A look is as long as there are
/// orphans, so each is to find many; a commit keeps everybody else waiting, so it is to be short.
constexpr std::size_t orphans_a_look = 20'000;
constexpr std::size_t orphans_a_commit = 500;
/// So often one run tries to take back the same orphan, with pauses in which somebody else who is
/// just taking it back comes to an end.
constexpr int enough = 3;
constexpr std::chrono::milliseconds between_tries{100};
/// Who buried a worker reports what it could not take back; if it died over it, others do then.
constexpr Millis left_to_others_for{30'000};
/// What may be taken back and cannot be is not looked at more often.
constexpr Millis least_pause{250};

Recovery::Random machine_random() {
  return [dice = std::mt19937_64{std::random_device{}()}]() mutable {
    return std::uniform_real_distribution<double>{0.0, 1.0}(dice);
  };
}

void pause_a_moment(const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock{mutex};
  std::condition_variable_any{}.wait_for(lock, stop, between_tries, [] { return false; });
}

}  // namespace

/// One run: what it has seen so far. What it did is in the store.
class Recovery::Run {
 public:
  Run(Recovery& recovery, std::string_view trigger, std::stop_token stop,
      const std::optional<StartUp>& start_up)
      : recovery_{recovery},
        stop_{std::move(stop)},
        start_up_{start_up},
        gate_{recovery.memory_.expiry, recovery.leases_.clock_may_be_set()},
        began_{recovery.clock_.steady()} {
    head_ = {ReportId::make(), recovery.clock_.wall(), std::string{trigger},
             recovery.settings_.action};
    if (!start_up) return;
    // Making the store ready was the first part of this.
    if (start_up->began != WallTime{}) head_.started_at = start_up->began;
    if (!start_up->report.is_nil()) head_.id = start_up->report;
  }

  RecoveryReport carry_out() {
    recovery_.events_.emit(RecoveryStarted{head_.trigger});
    look_and_bury();
    take_back_orphans();
    clear_up();
    auto report = report_of();
    recovery_.events_.emit(RecoveryCompleted{report});
    return report;
  }

  RecoveryReport plan() {
    RecoveryReport report;
    report.state = ReportState::dry_run;
    std::vector<WorkerId> presumed_dead;
    for (auto& sighting : recovery_.workers_.look()) {
      auto id = sighting.status.id;
      if (sighting.buried) {
        buried_[id] = std::move(sighting);
      } else if (sighting.proven_dead || sighting.stale) {
        report.dead_workers.push_back(dead_worker(sighting));
        presumed_dead.push_back(id);
        buried_[id] = std::move(sighting);
      }
    }
    auto orphans =
        recovery_.leases_.orphans(std::numeric_limits<int>::max(), std::span{presumed_dead});
    for (const auto& orphan : orphans) report.add(entry_for(orphan, judge(orphan)));
    fill_in_head(report);
    return report;
  }

 private:
  /// For steps that write: from the first one on, others can see that this run goes on.
  const ReportHead& report_to() {
    if (!hold_) hold_ = recovery_.reports_.hold(head_.id);
    return head_;
  }

  ExpiryWatch& watch() { return recovery_.memory_.expiry; }

  void raise_alarm() {
    if (!watch().mass_began()) return;
    auto mass = watch().mass();
    if (!mass) return;
    errors_.push_back(to_text(*mass));
    recovery_.events_.emit(MassExpiry{mass->workers, mass->of, errors_.back()});
  }

  void look_and_bury() {
    auto sightings = recovery_.workers_.look();
    gate_.sift(sightings, recovery_.clock_.steady());
    raise_alarm();
    for (auto& sighting : sightings) {
      if (stop_.stop_requested()) return;
      auto id = sighting.status.id;
      if (buried_.contains(id)) continue;
      if (sighting.buried) {
        // Somebody else did it, and may be at work on it or may have died over it.
        buried_by_others_.insert(id);
        buried_[id] = std::move(sighting);
      } else if (sighting.proven_dead || sighting.stale) {
        if (!recovery_.workers_.bury(sighting, report_to())) continue;
        wrote_ = true;
        recovery_.events_.emit(WorkerDied{dead_worker(sighting)});
        buried_[id] = std::move(sighting);
      }
    }
  }

  void take_back_orphans() {
    bool again = true;
    while (again && !stop_.stop_requested()) {
      const auto waiting = watch().leases_waiting();
      const auto limit = orphans_a_look + waiting;
      auto orphans = recovery_.leases_.orphans(static_cast<int>(limit));
      const bool all = orphans.size() < limit;
      gate_.sift(orphans, all, recovery_.clock_.steady());
      raise_alarm();
      std::erase_if(orphans, [&](const Orphan& orphan) { return gave_up_on(orphan); });
      end_children_of(orphans);
      // Behind those that wait there may be others, as long as there is room to remember them.
      if (orphans.empty() && (all || watch().leases_waiting() <= waiting)) return;
      if (orphans.empty()) continue;
      look_again_if_needed(orphans);
      leave_to_others(orphans);
      if (orphans.empty() ||
          std::ranges::any_of(orphans, [&](const auto& o) { return refused_.contains(o.lease); }))
        recovery_.pause_(stop_);
      std::span rest{orphans};
      while (again && !rest.empty() && !stop_.stop_requested()) {
        auto portion = rest.first(std::min(rest.size(), orphans_a_commit));
        again = take_back(portion);
        rest = rest.subspan(portion.size());
      }
    }
  }

  /// Only now: what may yet be renewed is a living worker's, and so are its child processes.
  void end_children_of(std::vector<Orphan>& orphans) {
    const auto* files = orphans.empty() ? nullptr : recovery_.leases_.host_files();
    if (files) leave_out_running_children(*files, orphans);
  }

  /// Who buried a worker goes on to take back what it held, and one report says both. So that is
  /// left to them for as long as it gets less; what stays was left behind by one who died, too.
  void leave_to_others(std::vector<Orphan>& orphans) {
    auto is_theirs = [&](const Orphan& orphan) {
      return !orphan.expired && buried_by_others_.contains(orphan.worker);
    };
    auto theirs = static_cast<std::size_t>(std::ranges::count_if(orphans, is_theirs));
    if (theirs == 0) return;
    if (theirs < std::exchange(left_to_others_, theirs)) std::erase_if(orphans, is_theirs);
  }

  /// Once is no news: it was renewed and ran out again, or somebody asked it to stop meanwhile.
  /// What still is an orphan after several refusals did not go to somebody else, so the report
  /// names it.
  bool gave_up_on(const Orphan& orphan) {
    auto refused = refused_.find(orphan.lease);
    if (refused == refused_.end()) return false;
    if (refused->second > enough) return true;
    if (refused->second < enough && !recovery_.memory_.refusals.was_reported(orphan.lease))
      return false;
    refused->second = enough + 1;
    report_refusal(orphan,
                   "The store refused to take it back although it is an orphan: a step that has "
                   "not ended has it locked, most likely its worker's, which may have been stopped "
                   "while it was settling. Recovery keeps trying, and says this once.");
    return true;
  }

  /// Whoever looks every few moments must not report the same each time. An operator who asks is
  /// told each time.
  void report_refusal(const Orphan& orphan, const std::string& why) {
    auto patience = buried_by_others_.contains(orphan.worker) ? left_to_others_for : Millis{0};
    bool news =
        recovery_.memory_.refusals.is_news(orphan.lease, patience, recovery_.clock_.steady());
    if (news || head_.trigger == "operator") report_failure(orphan, why);
  }

  bool take_back(std::span<const Orphan> orphans) {
    std::vector<Verdict> verdicts;
    verdicts.reserve(orphans.size());
    for (const auto& orphan : orphans) verdicts.push_back(judge(orphan));
    std::vector<bool> taken;
    try {
      taken = recovery_.leases_.reclaim(verdicts, report_to());
    } catch (const StorageFailed&) {
      throw;
    } catch (const StoreError& trouble) {
      // Perhaps only the reply was lost. Then the report has begun, and is to be completed.
      for (const auto& orphan : orphans) report_failure(orphan, trouble.what());
      return false;
    }
    for (std::size_t i = 0; i < orphans.size(); ++i) {
      if (taken[i])
        announce(orphans[i], verdicts[i]);
      else
        ++refused_[orphans[i].lease];
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
    const Sighting* sighting = found == buried_.end() ? nullptr : &found->second;
    auto seen_as = orphan;
    // A worker that was buried for its silence may be alive: what is on its board says nothing
    // about a crash, so its work is treated as that of any lease that ran out.
    if (sighting && !sighting->proven_dead) seen_as.expired = true;
    auto verdict = decide(seen_as, sighting ? &sighting->remains : nullptr, recovery_.settings_,
                          recovery_.random_());
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
    if (!orphan.worker.is_nil()) entry.worker = orphan.worker;
    return entry;
  }

  void announce(const Orphan& orphan, const Verdict& verdict) {
    wrote_ = true;
    if (!recovery_.events_.heard()) return;
    Transition step{TaskState::running,     verdict.to,         std::string{actors::recovery},
                    verdict.reason,         orphan.lease.token, verdict.attempt,
                    recovery_.clock_.wall()};
    recovery_.events_.emit(TaskChanged{orphan.lease.id, orphan.kind, std::move(step), orphan.name});
  }

  void report_failure(const Orphan& orphan, const std::string& why) {
    auto entry = entry_for(orphan, {});
    entry.now = TaskState::running;
    entry.attempt = orphan.attempt;
    entry.success = false;
    entry.error = why;
    failures_.push_back(std::move(entry));
  }

  void clear_up() {
    for (const auto& [id, sighting] : buried_) {
      if (stop_.stop_requested()) return;
      if (recovery_.workers_.clear(id)) recovery_.events_.emit(WorkerCleared{id});
    }
  }

  void fill_in_head(RecoveryReport& report) const {
    report.started_at = head_.started_at;
    report.completed_at = recovery_.clock_.wall();
    report.duration = recovery_.clock_.steady() - began_;
    if (start_up_) report.duration += start_up_->duration;
    report.trigger = head_.trigger;
    report.action = head_.action;
  }

  RecoveryReport report_of() {
    RecoveryReport end;
    fill_in_head(end);
    end.start_up = start_up_;
    end.errors = errors_;
    for (auto& failure : failures_) end.add(std::move(failure));
    auto report = std::move(end);
    if (wrote_ || report.found_anything()) {
      report = recovery_.reports_.complete(report_to(), report);
      hold_.reset();
    }
    report.waiting = gate_.waiting() + recovery_.memory_.others_waiting;
    if (report.waiting > 0)
      report.look_again = std::max(recovery_.look_again() - recovery_.clock_.steady(), Millis{0});
    return report;
  }

  Recovery& recovery_;
  std::stop_token stop_;
  const std::optional<StartUp>& start_up_;
  ExpiryGate gate_;
  Millis began_;
  ReportHead head_{};
  std::unique_ptr<ReportHold> hold_;
  bool wrote_ = false;  // the report has begun
  std::map<WorkerId, Sighting> buried_;
  std::set<WorkerId> buried_by_others_;
  std::size_t left_to_others_ = std::numeric_limits<std::size_t>::max();
  std::map<Lease, int> refused_;  // how often; perhaps somebody else was faster
  std::vector<RecoveredTask> failures_;
  std::vector<std::string> errors_;
};

Recovery::Recovery(Leases& leases, WorkerRegistry& workers, Reports& reports, Events& events,
                   const Clock& clock, Settings::Recovery settings, Random random, Pause pause,
                   RecoveryMemory* memory)
    : leases_{leases},
      workers_{workers},
      reports_{reports},
      events_{events},
      clock_{clock},
      settings_{settings},
      random_{random ? std::move(random) : machine_random()},
      pause_{pause ? std::move(pause) : pause_a_moment},
      own_memory_{memory ? nullptr : std::make_unique<RecoveryMemory>()},
      memory_{memory ? *memory : *own_memory_} {}

RecoveryReport Recovery::run_once(std::string_view trigger, std::stop_token stop,
                                  const std::optional<StartUp>& start_up) {
  return Run{*this, trigger, std::move(stop), start_up}.carry_out();
}

RecoveryReport Recovery::plan(std::string_view trigger) {
  return Run{*this, trigger, {}, {}}.plan();
}

Millis Recovery::look_again() const {
  auto next = memory_.look_again();
  return next == Millis::max() ? next : std::max(next, clock_.steady() + least_pause);
}

}  // namespace holdfast
