#include "recovery/decide.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "recovery/backoff.hpp"
#include "recovery/time_text.hpp"

namespace holdfast {

namespace {

/// Outbound requests run in one event loop by the thousand, and each may take a minute. To try each
/// of them alone after a crash would take days, and it is hardly ever a request that ends a
/// process. Transactions that wait for messages are held by the thousand too, for hours. One that
/// has been there too often is a suspect all the same.
constexpr std::string_view transactions = "holdfast.tx";
constexpr std::string_view kinds_in_company[] = {"holdfast.http", transactions};
constexpr int most_recoveries_in_company = 10;
/// A transaction is a client's only way to its result, and goes through many workers: where it
/// would be held, it rests, and then it is tried again.
constexpr Millis rest_of_a_transaction = std::chrono::minutes{15};

bool runs_in_company(const Orphan& orphan) {
  return std::ranges::find(kinds_in_company, orphan.kind) != std::end(kinds_in_company);
}

/// What a handler can do to its process leaves a fatal signal on the board, or a note that memory
/// ran out. A worker that ended without either was killed by somebody else.
bool was_ended_from_outside(const Remains* remains) {
  return !remains || !remains->readable || remains->machine_restarted || remains->evidence.empty();
}

/// What we know about the part that a task played in the end of its worker.
enum class Part {
  unknown_worker_silent,  ///< the worker may be alive: only its lease ran out
  swept_away,             ///< the whole machine went down
  bystander,              ///< was not in a handler when the worker died
  elsewhere,              ///< only the server ended through which the worker reached us
  in_company,             ///< one of very many: not worth a suspicion
  survivor,               ///< a transaction whose worker was ended from outside
  suspect,                ///< may or may not have caused it
  culprit,                ///< nothing else was running
  /// Was to run alone, and everything that could tell more is gone, as it was often before.
  culprit_without_record,
};

int max_uncharged_of(const Orphan& orphan, const Settings::Recovery& settings) {
  if (!runs_in_company(orphan)) return settings.max_uncharged_recoveries;
  return std::max(settings.max_uncharged_recoveries, most_recoveries_in_company);
}

/// However often a transaction loses its worker from outside, it goes on from where it is.
bool is_spared(const Orphan& orphan, const Remains* remains) {
  return orphan.kind == transactions && (orphan.expired || was_ended_from_outside(remains));
}

Part part_of(const Orphan& orphan, const Remains* remains, int max_uncharged) {
  bool restarted = remains && remains->machine_restarted;
  bool recorded = remains && remains->readable && !restarted && !orphan.expired;
  if (recorded && std::ranges::count(remains->running, orphan.lease) == 0) return Part::bystander;
  bool known = recorded && !remains->elsewhere();
  if (is_spared(orphan, remains)) {
    if (orphan.expired) return Part::unknown_worker_silent;
    if (restarted) return Part::swept_away;
    return recorded && !known ? Part::elsewhere : Part::survivor;
  }
  bool once_too_often = orphan.suspect && orphan.recoveries >= max_uncharged;
  if (!known && once_too_often) return Part::culprit_without_record;
  if (orphan.expired) return Part::unknown_worker_silent;
  if (restarted) return Part::swept_away;
  if (recorded && !known) return Part::elsewhere;
  if (runs_in_company(orphan) && orphan.recoveries < most_recoveries_in_company)
    return Part::in_company;
  if (!known) return Part::suspect;
  return remains->running.size() == 1 ? Part::culprit : Part::suspect;
}

std::string what_happened(const Orphan& orphan, const Remains* remains, Part part) {
  auto worker = orphan.worker.is_nil() ? std::string{"unknown"} : orphan.worker.text();
  auto evidence = remains && !remains->evidence.empty() ? fmt::format(" ({})", remains->evidence)
                                                        : std::string{};
  switch (part) {
    case Part::unknown_worker_silent:
      if (orphan.worker.is_nil()) return "It was in progress and nobody had a lease on it";
      return fmt::format("Worker {} did not renew its lease in time", worker);
    case Part::swept_away:
      return fmt::format("The machine was restarted while worker {} had this task", worker);
    case Part::bystander:
      return fmt::format("Worker {} died{} while this task was not being run", worker, evidence);
    case Part::elsewhere:
      return fmt::format("The server of remote worker {} ended{} while that was running this task",
                         worker, evidence);
    case Part::in_company:
      return fmt::format("Worker {} died{} while it had this and others at once", worker, evidence);
    case Part::survivor:
      return fmt::format("Worker {} was ended from outside while it had this transaction", worker);
    case Part::culprit:
      return fmt::format("Worker {} died{} while running this task and nothing else", worker,
                         evidence);
    case Part::culprit_without_record:
      return fmt::format(
          "{} while worker {} was to run this task and nothing else; it had been taken back {} "
          "times before",
          orphan.expired                          ? "A lease ran out"
          : remains && remains->machine_restarted ? "The machine was restarted"
          : remains && remains->elsewhere()       ? "A server of remote workers ended"
                                                  : "Everything ended without a record",
          worker, orphan.recoveries);
    case Part::suspect:
      break;
  }
  if (!remains || !remains->readable)
    return fmt::format("Worker {} is gone and left no record of what it was running", worker);
  return fmt::format("Worker {} died{} while running this task and {} more", worker, evidence,
                     remains->running.size() - 1);
}

class Judge {
 public:
  Judge(const Orphan& orphan, const Remains* remains, const Settings::Recovery& settings,
        double random01)
      : orphan_{orphan},
        settings_{settings},
        max_uncharged_{max_uncharged_of(orphan, settings)},
        spared_{is_spared(orphan, remains)},
        part_{part_of(orphan, remains, max_uncharged_)},
        happened_{what_happened(orphan, remains, part_)},
        random01_{random01} {
    verdict_.lease = orphan.lease;
    verdict_.expired = orphan.expired;
    verdict_.lease_until = orphan.lease_until;
    verdict_.cancel_requested = orphan.cancel_requested;
    verdict_.attempt = orphan.attempt;
    verdict_.crashes = orphan.crashes;
  }

  Verdict judge() {
    if (orphan_.cancel_requested)
      return end(TaskState::cancelled, "it had been asked to stop, so it is cancelled");
    // Where running twice is worse than not at all, only what was not running may run again.
    bool ends = settings_.action == RecoveryAction::fail;
    bool nobodys_fault = part_ == Part::swept_away || part_ == Part::unknown_worker_silent ||
                         part_ == Part::elsewhere;
    if (nobodys_fault && !ends) return sweep();
    if (part_ == Part::bystander) {
      verdict_.suspect = orphan_.suspect;
      return run_again_uncharged("it runs again at once and no attempt is charged");
    }
    if (is_culprit()) {
      ++verdict_.crashes;
      if (verdict_.crashes >= settings_.max_recovery_attempts)
        return orphan_.kind == transactions && !ends ? rest() : hold();
    }
    if (ends)
      return end(TaskState::failed, "the recovery action is `fail`, so it is a dead letter");
    if (part_ == Part::survivor) verdict_.suspect = orphan_.suspect;
    if (part_ == Part::in_company || part_ == Part::survivor)
      return run_again_uncharged("it runs again at once and no attempt is charged");
    verdict_.suspect = true;
    if (part_ == Part::suspect)
      return run_again_uncharged("it runs again, alone, and no attempt is charged");
    if (settings_.action == RecoveryAction::pending)
      return run_again_uncharged("the recovery action is `pending`, so it runs again at once");
    return run_again_charged();
  }

 private:
  bool is_culprit() const {
    return part_ == Part::culprit || part_ == Part::culprit_without_record;
  }

  /// A task that takes the whole machine with it, or keeps its worker from everything else, leaves
  /// no trace but that it was there each time.
  Verdict sweep() {
    bool again = !spared_ && orphan_.recoveries + 1 >= max_uncharged_;
    verdict_.suspect = orphan_.suspect || again;
    // A worker that is too slow to renew will not be quicker in a moment.
    if (part_ == Part::unknown_worker_silent && settings_.action == RecoveryAction::retry &&
        orphan_.recoveries > 0)
      verdict_.delay = backoff_delay(orphan_.backoff, orphan_.recoveries, random01_);
    return run_again_uncharged(again ? "that is once too often, so it runs again alone, and no "
                                       "attempt is charged yet"
                                     : "it runs again at once and no attempt is charged");
  }

  Verdict end(TaskState to, std::string_view so) {
    verdict_.to = to;
    verdict_.suspect = false;
    verdict_.reason = fmt::format("{}; {}.", happened_, so);
    return verdict_;
  }

  Verdict run_again_uncharged(std::string_view so) {
    verdict_.attempt = std::max(orphan_.attempt - 1, 0);
    verdict_.reason = fmt::format("{}; {}.", happened_, so);
    return verdict_;
  }

  Verdict run_again_charged() {
    if (orphan_.attempt >= orphan_.max_attempts)
      return end(TaskState::failed, fmt::format("that was attempt {} of {}, so it is a dead letter",
                                                orphan_.attempt, orphan_.max_attempts));
    // The first time costs no wait: most often the machine or the operator is to blame.
    int earlier = verdict_.crashes - 1;
    if (earlier > 0) verdict_.delay = backoff_delay(orphan_.backoff, earlier, random01_);
    verdict_.reason =
        fmt::format("{}; attempt {} of {} is charged and it runs again{}.", happened_,
                    orphan_.attempt, orphan_.max_attempts, earlier > 0 ? " after a back-off" : "");
    return verdict_;
  }

  Verdict rest() {
    verdict_.suspect = true;
    verdict_.delay = rest_of_a_transaction;
    const int ended = std::exchange(verdict_.crashes, 0);
    return run_again_uncharged(
        fmt::format("it has ended {} {} while running alone, so it rests for {} and runs again, "
                    "alone",
                    ended, ended == 1 ? "worker" : "workers", duration_text(verdict_.delay)));
  }

  Verdict hold() {
    verdict_.cause = fmt::format("{}. It has now ended {} {} while running alone.", happened_,
                                 verdict_.crashes, verdict_.crashes == 1 ? "worker" : "workers");
    return end(TaskState::held,
               fmt::format("it has ended {} {} while running alone, so it is held for an operator",
                           verdict_.crashes, verdict_.crashes == 1 ? "worker" : "workers"));
  }

  const Orphan& orphan_;
  const Settings::Recovery& settings_;
  int max_uncharged_;
  bool spared_;
  Part part_;
  std::string happened_;
  double random01_;
  Verdict verdict_{};
};

}  // namespace

Verdict decide(const Orphan& orphan, const Remains* remains, const Settings::Recovery& settings,
               double random01) {
  return Judge{orphan, remains, settings, random01}.judge();
}

}  // namespace holdfast
