#include "documents/recovery_status.hpp"

#include "documents/json.hpp"
#include "recovery/expiry_gate.hpp"
#include "recovery/time_text.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast {

namespace {

std::string totals_json(const RecoveryTotals& totals) {
  return JsonObject{}
      .number("recoveries", totals.recoveries)
      .number("pending", totals.orphans.pending)
      .number("failed", totals.orphans.failed)
      .number("held", totals.orphans.held)
      .number("cancelled", totals.orphans.cancelled)
      .number("not_taken", totals.orphans.not_taken)
      .number("dead_workers", totals.dead_workers)
      .number("stale_writes_refused", totals.stale_writes_refused)
      .str();
}

}  // namespace

RecoveryStatus recovery_status(const Engine& engine) {
  const Inspector inspector{engine};
  RecoveryStatus status;
  for (const WorkerStatus& worker : inspector.workers())
    ++status.workers[static_cast<std::size_t>(worker.state)];
  const auto plan = inspector.plan_recovery();
  status.waiting = plan.orphans.all();
  status.dead_workers = plan.dead_workers.size();
  // One that is at work began lately, so it is among the newest.
  constexpr int lately = 20;
  for (RecoveryReport& report : inspector.reports(lately, 0)) {
    if (report.state == ReportState::running)
      status.at_work = true;
    else if (!status.last)
      status.last = std::move(report);
  }
  status.totals = inspector.recovery_totals();
  if (const auto mass = engine.parts().recovery_memory().expiry.mass())
    status.alarm = to_text(*mass);
  status.level = to_string(inspector.run_level());
  status.reason = inspector.why_read_only();
  return status;
}

std::string recovery_status_json(const RecoveryStatus& status) {
  const auto& last = status.last;
  return JsonObject{}
      .text("run_level", status.level)
      .text("reason", status.reason)
      .flag("recovery_running", status.at_work)
      .text("alarm", status.alarm)
      .number("waiting", status.waiting)
      .number("workers_running", status.count(WorkerState::running))
      .number("workers_stopped", status.count(WorkerState::stopped))
      .number("workers_dead", status.count(WorkerState::dead))
      .json("last_recovery", last ? json_string(iso8601(last->completed_at)) : "")
      .json("last_recovered", last ? std::to_string(last->orphans.taken()) : "")
      .json("last_state", last ? json_string(to_string(last->state)) : "")
      .json("totals", totals_json(status.totals))
      .str();
}

}  // namespace holdfast
