#include "documents/log_json.hpp"

#include <holdfast/log.hpp>

#include "recovery/time_text.hpp"
#include "recovery/transaction_notes.hpp"

namespace holdfast {

namespace {

struct NameOf {
  std::string_view operator()(const TaskChanged&) const { return "task_changed"; }
  std::string_view operator()(const RecoveryStarted&) const { return "recovery_started"; }
  std::string_view operator()(const RecoveryCompleted&) const { return "recovery_completed"; }
  std::string_view operator()(const MassExpiry&) const { return "mass_expiry"; }
  std::string_view operator()(const IntegrityChecked&) const { return "integrity_checked"; }
  std::string_view operator()(const StoreRepaired&) const { return "store_repaired"; }
  std::string_view operator()(const WorkerEnlisted&) const { return "worker_started"; }
  std::string_view operator()(const WorkerDied&) const { return "worker_dead"; }
  std::string_view operator()(const WorkerCleared&) const { return "worker_cleared"; }
  std::string_view operator()(const StaleWriteRefused&) const { return "stale_write_refused"; }
  std::string_view operator()(const HeartbeatFailed&) const { return "heartbeat_failed"; }
  std::string_view operator()(const LeasesAbandoned&) const { return "leases_abandoned"; }
  std::string_view operator()(const StoreTrouble&) const { return "store_trouble"; }
  std::string_view operator()(const StoreWarning&) const { return "store_warning"; }
  std::string_view operator()(const DamageFound&) const { return "damage_found"; }
  std::string_view operator()(const HandlerIgnoresStop&) const { return "handler_ignores_stop"; }
  std::string_view operator()(const KindPaused&) const { return "kind_paused"; }
  std::string_view operator()(const KindResumed&) const { return "kind_resumed"; }
  std::string_view operator()(const ScheduleFired&) const { return "schedule_fired"; }
  std::string_view operator()(const ScheduleBroken&) const { return "schedule_broken"; }
  std::string_view operator()(const TransactionResumed&) const { return "transaction_resumed"; }
  std::string_view operator()(const TransactionMoved&) const { return "transaction_moved"; }
  std::string_view operator()(const QueueWatched& event) const {
    if (event.change == QueueWatched::Change::unreadable) return "queue_unreadable";
    return event.change == QueueWatched::Change::readable ? "queue_readable" : "queue_left";
  }
  std::string_view operator()(const MessageRejected&) const { return "dead_letter"; }
  std::string_view operator()(const TransactionNoted& event) const {
    return name_of(note_of(event));
  }
};

/// Adds to a line what its event is about.
class Fields {
 public:
  explicit Fields(JsonObject& line) : line_{line} {}

  void operator()(const TaskChanged& event) const {
    const auto& step = event.transition;
    subject(event);
    line_.text("kind", event.kind);
    line_.json("from", step.from ? json_string(to_string(*step.from)) : "");
    line_.text("to", to_string(step.to)).text("actor", step.actor).text("reason", step.reason);
    line_.number("token", step.token.value).number("attempt", step.attempt);
  }
  void operator()(const RecoveryStarted& event) const { line_.text("trigger", event.trigger); }
  void operator()(const RecoveryCompleted& event) const {
    const auto& report = event.report;
    line_.json("report", report.id.is_nil() ? "" : json_string(report.id.text()));
    line_.text("trigger", report.trigger).number("taken_back", report.orphans.taken());
    line_.number("not_taken", report.orphans.not_taken);
    line_.number("dead_workers", report.dead_workers.size());
    line_.number("duration_ms", report.duration.count());
  }
  void operator()(const MassExpiry& event) const {
    line_.number("workers", event.workers).number("of", event.of);
  }
  void operator()(const IntegrityChecked& event) const {
    const auto& result = event.result;
    line_.flag("full", result.full).flag("passed", result.passed);
    line_.flag("completed", result.completed).number("damage", result.damage.size());
    line_.number("duration_ms", result.duration.count());
  }
  void operator()(const StoreRepaired& event) const {
    const auto& found = event.start_up;
    line_.text("repair", found.repair).number("losses", found.losses.size());
    line_.text("evidence", found.evidence);
  }
  void operator()(const WorkerEnlisted& event) const { line_.text("worker", event.id.text()); }
  void operator()(const WorkerDied& event) const {
    const auto& worker = event.worker;
    line_.text("worker", worker.id.text()).text("host", worker.host).number("pid", worker.pid);
    line_.text("cause", worker.cause).text("evidence", worker.evidence);
  }
  void operator()(const WorkerCleared& event) const { line_.text("worker", event.id.text()); }
  void operator()(const StaleWriteRefused& event) const {
    subject(event);
    line_.number("token", event.token.value);
    line_.text("what", event.what);
  }
  void operator()(const HeartbeatFailed& event) const {
    line_.text("worker", event.id.text()).text("why", event.why);
  }
  void operator()(const LeasesAbandoned& event) const {
    line_.text("worker", event.id.text()).number("tasks", event.tasks);
  }
  void operator()(const StoreTrouble& event) const {
    line_.text("what", event.what).text("why", event.why);
  }
  void operator()(const StoreWarning& event) const { line_.text("what", event.what); }
  void operator()(const DamageFound& event) const { line_.text("what", event.damage.what); }
  void operator()(const HandlerIgnoresStop& event) const {
    subject(event);
    line_.text("kind", event.kind);
  }
  void operator()(const KindPaused& event) const {
    line_.text("worker", event.id.text()).text("kind", event.kind).text("why", event.why);
    line_.number("pause_ms", event.pause.count());
  }
  void operator()(const KindResumed& event) const {
    line_.text("worker", event.id.text()).text("kind", event.kind);
  }
  void operator()(const ScheduleFired& event) const {
    line_.text("schedule", event.schedule).text("task", event.task.text());
  }
  void operator()(const ScheduleBroken& event) const {
    line_.text("schedule", event.schedule).text("why", event.why);
  }
  void operator()(const TransactionResumed& event) const {
    line_.text("transaction", event.id).text("machine", event.machine).text("state", event.state);
  }
  void operator()(const TransactionMoved& event) const {
    line_.text("transaction", event.id).text("machine", event.machine).text("from", event.from);
    line_.text("to", event.to).text("reason", event.reason);
  }
  void operator()(const QueueWatched& event) const {
    line_.text("transaction", event.id).text("machine", event.machine).text("queue", event.queue);
    line_.text("why", event.why);
  }
  void operator()(const MessageRejected& event) const {
    line_.text("transaction", event.id).text("machine", event.machine).text("queue", event.queue);
    line_.text("message_id", event.message).text("reason", event.reason);
  }
  void operator()(const TransactionNoted& event) const {
    line_.text("transaction", event.id).text("machine", event.machine).text("what", event.what);
  }

 private:
  /// A task by its id; what only runs like one by its name.
  template <class SomeEvent>
  void subject(const SomeEvent& event) const {
    if (event.name.empty())
      line_.text("task", event.id.text());
    else
      line_.text("name", event.name);
  }

  JsonObject& line_;
};

}  // namespace

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::debug:
      return "debug";
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "";
}

JsonObject log_line_json(WallTime at, Severity severity, std::string_view event,
                         std::string_view message) {
  JsonObject line;
  line.text("time", iso8601(at)).text("level", to_string(severity));
  line.text("event", event).text("message", message);
  return line;
}

JsonObject log_json(const Event& event, WallTime at) {
  auto line = log_line_json(at, severity(event), std::visit(NameOf{}, event), to_text(event));
  std::visit(Fields{line}, event);
  return line;
}

}  // namespace holdfast
