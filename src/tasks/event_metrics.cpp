#include <mutex>
#include <set>

#include <holdfast/metrics.hpp>

#include "recovery/actors.hpp"
#include "recovery/transaction_notes.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast {

namespace {

/// Adds each event to its numbers. Those that come often are looked up beforehand.
class EventCounts {
 public:
  explicit EventCounts(std::shared_ptr<Metrics> metrics) : metrics_{std::move(metrics)} {
    for (auto trigger : {"start-up", "watch", "operator"}) recoveries(trigger);
    for (auto to : {TaskState::pending, TaskState::failed, TaskState::held, TaskState::cancelled})
      orphans(to_string(to));
    orphans("not_taken");
    for (auto result : {"passed", "failed"}) checks(result);
    count_notes();
    for (int to = 0; to < task_state_count; ++to)
      ended_[to] = &transitions(TaskState::running, static_cast<TaskState>(to));
  }

  void operator()(const TaskChanged& event) {
    const auto& step = event.transition;
    if (step.from == TaskState::running)
      ended_[static_cast<int>(step.to)]->add();
    else if (step.from == TaskState::pending && step.to == TaskState::running)
      claimed_.add();
    else
      transitions(step.from, step.to).add();
    if (step.actor == actors::recovery) orphans(to_string(step.to)).add();
  }
  void operator()(const RecoveryStarted&) {}
  void operator()(const RecoveryCompleted& event) {
    const auto& report = event.report;
    recoveries(report.trigger).add();
    duration_.observe(std::chrono::duration<double>(report.duration).count());
    orphans("not_taken").add(static_cast<std::uint64_t>(report.orphans.not_taken));
    if (!report.start_up) return;
    const auto& start_up = *report.start_up;
    if (start_up.integrity.completed || !start_up.integrity.passed) count(start_up.integrity);
    frames_.add(static_cast<std::uint64_t>(start_up.wal_frames_checkpointed));
  }
  void operator()(const MassExpiry&) { mass_.add(); }
  void operator()(const IntegrityChecked& event) { count(event.result); }
  void operator()(const StoreRepaired&) { repaired_.add(); }
  void operator()(const DamageFound&) { damage_.add(); }
  void operator()(const WorkerEnlisted&) { started_.add(); }
  void operator()(const WorkerDied&) { died_.add(); }
  void operator()(const WorkerCleared&) { cleared_.add(); }
  void operator()(const StaleWriteRefused&) { refused_.add(); }
  void operator()(const HeartbeatFailed&) { heartbeats_failed_.add(); }
  void operator()(const LeasesAbandoned& event) { abandoned_.add(event.tasks); }
  void operator()(const StoreTrouble&) { trouble_.add(); }
  void operator()(const StoreWarning&) {}
  void operator()(const HandlerIgnoresStop&) { ignored_.add(); }
  void operator()(const KindPaused&) { paused_.add(); }
  void operator()(const KindResumed&) {}
  void operator()(const ScheduleFired&) { fired_.add(); }
  void operator()(const ScheduleBroken&) { broken_.add(); }
  void operator()(const TransactionResumed&) { resumed_.add(); }
  void operator()(const TransactionMoved&) { moved_.add(); }
  void operator()(const QueueWatched& event) {
    std::lock_guard lock{mutex_};
    if (event.change != QueueWatched::Change::unreadable)
      unreadable_.erase(event.queue);
    else if (unreadable_.size() < most_unreadable && unreadable_.insert(event.queue).second)
      became_unreadable_.add();
    unreadable_now_.set(static_cast<double>(unreadable_.size()));
  }
  void operator()(const MessageRejected&) { dead_letters_.add(); }
  void operator()(const TransactionNoted& event) {
    if (auto* counter = notes_[static_cast<int>(note_of(event))]) counter->add();
  }

 private:
  void count_notes() {
    auto count = [&](TransactionNote note, Counter& counter) {
      notes_[static_cast<int>(note)] = &counter;
    };
    count(TransactionNote::recovered,
          metrics_->counter("holdfast_transactions_recovered_total",
                            "Transactions that continued here after their worker died."));
    auto parts = [&](const char* result) -> Counter& {
      return metrics_->counter("holdfast_result_parts_total",
                               "Parts of results that came to this process.", {{"result", result}});
    };
    count(TransactionNote::ordinal_stored, parts("stored"));
    count(TransactionNote::ordinal_repeated, parts("already_processed"));
    auto ended = [&](const char* how) -> Counter& {
      return metrics_->counter("holdfast_transactions_ended_total",
                               "Transactions that came to their end in this process.",
                               {{"how", how}});
    };
    count(TransactionNote::completed, ended("complete"));
    count(TransactionNote::abandoned, ended("abandoned"));
  }
  void count(const IntegrityResult& result) { checks(result.passed ? "passed" : "failed").add(); }
  Counter& recoveries(const std::string& trigger) {
    return metrics_->counter("holdfast_recoveries_total",
                             "Runs of recovery in this process, by what started them.",
                             {{"trigger", trigger}});
  }
  Counter& orphans(std::string_view decision) {
    return metrics_->counter("holdfast_orphans_total",
                             "Tasks of dead workers, by what recovery in this process decided.",
                             {{"decision", std::string{decision}}});
  }
  Counter& checks(const std::string& result) {
    return metrics_->counter("holdfast_integrity_checks_total",
                             "Integrity checks of the store in this process.",
                             {{"result", result}});
  }
  Counter& transitions(std::optional<TaskState> from, TaskState to) {
    return metrics_->counter("holdfast_task_transitions_total",
                             "Changes of state that this process brought about.",
                             {{"from", std::string{from ? to_string(*from) : "new"}},
                              {"to", std::string{to_string(to)}}});
  }

  static constexpr std::size_t most_unreadable = 10'000;

  std::shared_ptr<Metrics> metrics_;
  std::mutex mutex_;
  std::set<std::string> unreadable_;  ///< queues
  Counter* ended_[task_state_count] = {};
  Counter* notes_[static_cast<int>(TransactionNote::other) + 1] = {};
  Counter& claimed_ = transitions(TaskState::pending, TaskState::running);
  Histogram& duration_ = metrics_->histogram(
      "holdfast_recovery_duration_seconds", "How long runs of recovery took.",
      {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30});
  Counter& frames_ = metrics_->counter("holdfast_wal_frames_checkpointed_total",
                                       "Frames of the WAL that start-ups copied into the file.");
  Counter& mass_ = metrics_->counter(
      "holdfast_mass_expiries_total",
      "Times that most workers seemed to have stopped renewing at once, as seen in this process.");
  Counter& refused_ =
      metrics_->counter("holdfast_stale_writes_refused_total",
                        "Writes of this process that were refused because the lease was lost.");
  Counter& started_ =
      metrics_->counter("holdfast_workers_started_total", "Workers that began in this process.");
  Counter& died_ =
      metrics_->counter("holdfast_workers_dead_total", "Workers that this process declared dead.");
  Counter& cleared_ = metrics_->counter("holdfast_workers_cleared_total",
                                        "Dead workers that this process cleared up after.");
  Counter& heartbeats_failed_ = metrics_->counter("holdfast_heartbeat_failures_total",
                                                  "Heartbeats that did not reach the store.");
  Counter& abandoned_ = metrics_->counter(
      "holdfast_leases_abandoned_total",
      "Tasks that were stopped because their lease could not be renewed in time.");
  Counter& trouble_ = metrics_->counter("holdfast_store_trouble_total",
                                        "Times that the store could not be reached or refused.");
  Counter& repaired_ = metrics_->counter("holdfast_store_repairs_total",
                                         "Repairs of a damaged store in this process.");
  Counter& damage_ = metrics_->counter("holdfast_damage_found_total",
                                       "Data of tasks that was not what had been written.");
  Counter& paused_ =
      metrics_->counter("holdfast_kinds_paused_total",
                        "Times that handlers of a kind could not begin in this process.");
  Counter& ignored_ = metrics_->counter("holdfast_handlers_ignoring_stop_total",
                                        "Handlers that went on although they were asked to stop.");
  Counter& resumed_ =
      metrics_->counter("holdfast_transactions_resumed_total",
                        "Transactions that continued in this process after a pause or a failure.");
  Counter& became_unreadable_ =
      metrics_->counter("holdfast_queues_unreadable_total",
                        "Times that a queue of messages could not be read by this process.");
  Gauge& unreadable_now_ =
      metrics_->gauge("holdfast_queues_unreadable",
                      "Queues of messages that this process cannot read now; the others are read.");
  Counter& dead_letters_ =
      metrics_->counter("holdfast_dead_letters_total",
                        "Messages that this process put into the queue of dead letters.");
  Counter& moved_ = metrics_->counter("holdfast_transaction_moves_total",
                                      "Moves of transactions from state to state in this process.");
  Counter& fired_ = metrics_->counter("holdfast_schedules_fired_total",
                                      "Tasks that schedules enqueued in this process.");
  Counter& broken_ = metrics_->counter(
      "holdfast_schedules_broken_total",
      "Schedules that were due and could not be read in this process, such as for want of a zone.");
};

}  // namespace

std::shared_ptr<Metrics> count_events(const Engine& engine) {
  auto metrics = std::make_shared<Metrics>();
  auto counts = std::make_shared<EventCounts>(metrics);
  engine.events().subscribe([counts](const Event& event) { std::visit(*counts, event); });
  return metrics;
}

}  // namespace holdfast
