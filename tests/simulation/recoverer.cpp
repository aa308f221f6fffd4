#include "simulation/recoverer.hpp"

#include <holdfast/error.hpp>

#include "recovery/recovery.hpp"

namespace holdfast::sim {

namespace {

/// The recovering process ends here.
struct Died {};

/// The real ports, with others acting before and after each call.
class Interrupted : public Leases, public WorkerRegistry, public Reports {
 public:
  Interrupted(World& world, RecoveryRun& run) : world_{world}, run_{run} {}

  std::vector<Renewal> renew(std::span<const Lease> leases, Millis length) override {
    return world_.engine.tasks().renew(leases, length);
  }

  using Leases::orphans;
  std::vector<Orphan> orphans(int limit, std::span<const WorkerId> as_if_buried) override {
    pause();
    auto found = world_.engine.tasks().orphans(limit, as_if_buried);
    for (const auto& orphan : found)
      world_.trace.say("r{} sees orphan t{}{}", run_.number, world_.number(orphan.lease.id),
                       orphan.expired ? " (expired)" : "");
    // The moment that a lease protocol is all about, and rare if left to chance.
    if (!found.empty() && found.front().expired && world_.fault(50))
      world_.nudge(found.front().worker);
    pause();
    return found;
  }

  std::vector<bool> reclaim(std::span<const Verdict> verdicts, const ReportHead& report) override {
    pause();
    if (world_.fault(4)) {
      world_.trace.say("r{} does not reach the store", run_.number);
      run_.trouble = true;
      throw StoreError{"the store was away"};
    }
    auto taken = world_.engine.tasks().reclaim(verdicts, report);
    for (std::size_t i = 0; i < taken.size(); ++i)
      world_.trace.say("r{} {} t{} to {}: {}", run_.number, taken[i] ? "takes" : "misses",
                       world_.number(verdicts[i].lease.id), to_string(verdicts[i].to),
                       verdicts[i].crashes);
    world_.ledger.reclaimed(run_, verdicts, taken);
    if (world_.fault(4)) {
      world_.trace.say("r{} does not hear it", run_.number);
      run_.trouble = true;
      world_.ledger.hit(Sometimes::recovery_reply_lost);
      throw StoreError{"the reply was lost"};
    }
    pause();
    return taken;
  }

  std::vector<Sighting> look() override {
    pause();
    auto seen = world_.engine.workers().look();
    for (const auto& one : seen)
      world_.trace.say("r{} sees w{}{}{}{}", run_.number,
                       world_.ledger.worker(one.status.id).number, one.proven_dead ? " dead" : "",
                       one.stale ? " stale" : "", one.buried ? " buried" : "");
    pause();
    return seen;
  }

  bool bury(const Sighting& sighting, const ReportHead& report) override {
    pause();
    bool done = world_.engine.workers().bury(sighting, report);
    world_.trace.say("r{} {} w{}", run_.number, done ? "buries" : "does not bury",
                     world_.ledger.worker(sighting.status.id).number);
    world_.ledger.buried(run_, sighting, done);
    pause();
    return done;
  }

  bool clear(WorkerId worker) override {
    pause();
    bool done = world_.engine.workers().clear(worker);
    world_.trace.say("r{} {} w{}", run_.number, done ? "clears" : "does not clear",
                     world_.ledger.worker(worker).number);
    world_.ledger.cleared(run_, worker, done);
    return done;
  }

  std::unique_ptr<ReportHold> hold(ReportId report) override {
    return world_.engine.reports().hold(report);
  }

  RecoveryReport complete(const ReportHead& head, const RecoveryReport& end) override {
    pause();
    auto report = world_.engine.reports().complete(head, end);
    world_.trace.say("r{} reports {} tasks and {} workers", run_.number, report.tasks.size(),
                     report.dead_workers.size());
    world_.ledger.reported(run_, report);
    pause();
    return report;
  }

  std::vector<RecoveryReport> newest(int count, int tasks_of_each) override {
    return world_.engine.reports().newest(count, tasks_of_each);
  }
  RecoveryTotals totals() override { return world_.engine.reports().totals(); }

  // Not for recovery.
  std::unique_ptr<Enlistment> enlist(const WorkerProfile& profile) override {
    return world_.engine.workers().enlist(profile);
  }
  bool beat(WorkerId worker, std::span<const TaskId> holding, std::string_view figures) override {
    return world_.engine.workers().beat(worker, holding, figures);
  }
  void retire(WorkerId worker, std::string_view figures) override {
    world_.engine.workers().retire(worker, figures);
  }
  bool wait_for_death(Millis, std::stop_token) override { return false; }
  std::vector<WorkerStatus> list() override { return world_.engine.workers().list(); }
  std::vector<ToldFigures> figures(Millis within) override {
    return world_.engine.workers().figures(within);
  }

 private:
  void pause() {
    world_.yield();
    if (!world_.fault(3)) return;
    world_.trace.say("r{} dies", run_.number);
    throw Died{};
  }

  World& world_;
  RecoveryRun& run_;
};

}  // namespace

void Recoverer::run_once() {
  busy_ = true;
  RecoveryRun run{.number = number_, .action = settings_.action};
  Interrupted ports{world_, run};
  Recovery recovery{ports,
                    ports,
                    ports,
                    events_,
                    world_.clock,
                    settings_,
                    [this] { return world_.dice.fraction(); },
                    [this](std::stop_token) { world_.yield(); }};
  world_.trace.say("r{} begins", number_);
  try {
    recovery.run_once("simulation");
  } catch (const Died&) {
    run.died = true;
  }
  world_.ledger.run_ended(run);
  busy_ = false;
}

}  // namespace holdfast::sim
