#include <algorithm>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct Options {};

struct Status {
  std::int64_t waiting = 0;      ///< orphans
  std::size_t dead_workers = 0;  ///< not declared dead yet
  int workers[3] = {};           ///< by state
  bool at_work = false;          ///< a recovery is running now
  std::optional<RecoveryReport> last{};
  RecoveryTotals totals{};
  std::string_view level{};
  std::string reason{};  ///< why that is not normal

  int count(WorkerState state) const { return workers[static_cast<std::size_t>(state)]; }
};

Status look(const Engine& engine) {
  const Inspector inspector{engine};
  Status status;
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
  status.level = to_string(inspector.run_level());
  status.reason = inspector.why_read_only();
  return status;
}

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

void print_json(const Context& context, const Status& status) {
  const auto& last = status.last;
  context.print_json(
      JsonObject{}
          .text("run_level", status.level)
          .text("reason", status.reason)
          .flag("recovery_running", status.at_work)
          .number("waiting", status.waiting)
          .number("workers_running", status.count(WorkerState::running))
          .number("workers_stopped", status.count(WorkerState::stopped))
          .number("workers_dead", status.count(WorkerState::dead))
          .json("last_recovery", last ? json_string(iso8601(last->completed_at)) : "")
          .json("last_recovered", last ? std::to_string(last->orphans.taken()) : "")
          .json("last_state", last ? json_string(to_string(last->state)) : "")
          .json("totals", totals_json(status.totals))
          .str());
}

std::string waiting_text(const Status& status) {
  if (status.waiting == 0 && status.dead_workers == 0) return "nothing is waiting to be recovered";
  const auto text =
      fmt::format("{} tasks of dead workers are waiting to be recovered", status.waiting);
  if (status.at_work || status.count(WorkerState::running) > 0) return text;
  return text + "; no worker is running to do it, 'holdfast queue recover' does it now";
}

std::string last_text(const RecoveryReport& last) {
  return fmt::format("last recovery: {} ({}), {} tasks, {} dead workers, took {}{}",
                     iso8601(last.completed_at), age_text(last.completed_at, wall_now()),
                     last.orphans.taken(), last.dead_workers.size(), duration_text(last.duration),
                     last.state == ReportState::interrupted ? ", interrupted" : "");
}

std::string totals_text(const RecoveryTotals& totals) {
  const auto& orphans = totals.orphans;
  return fmt::format(
      "ever: {} recoveries, {} dead workers, {} orphans ({} run again, {} failed, {} held, {} "
      "cancelled), {} stale writes refused",
      totals.recoveries, totals.dead_workers, orphans.taken(), orphans.pending, orphans.failed,
      orphans.held, orphans.cancelled, totals.stale_writes_refused);
}

Exit run(Context& context, const Options&) {
  const Status status = look(context.existing_engine());
  if (context.json) {
    print_json(context, status);
    return Exit::ok;
  }
  context.say(fmt::format("run level: {}{}{}", status.level, status.reason.empty() ? "" : ": ",
                          status.reason));
  context.say(waiting_text(status));
  if (status.at_work) context.say("a recovery is at work now");
  context.say(fmt::format("workers: {} running, {} stopped, {} dead",
                          status.count(WorkerState::running), status.count(WorkerState::stopped),
                          status.count(WorkerState::dead)));
  context.say(status.last ? last_text(*status.last) : "last recovery: none had anything to do yet");
  context.say(totals_text(status.totals));
  return Exit::ok;
}

}  // namespace

void add_queue_recovery_status(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand(
      "recovery-status", "Say whether work of dead workers waits to be taken back");
  chosen(*command, context, std::make_shared<Options>(), run);
}

}  // namespace holdfast::cli
