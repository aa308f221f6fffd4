#include <fmt/format.h>

#include "cli/command.hpp"
#include "documents/recovery_status.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct QueueRecoveryStatusOptions {};

std::string waiting_text(const RecoveryStatus& status) {
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

Exit run_queue_recovery_status(Context& context, const QueueRecoveryStatusOptions&) {
  const RecoveryStatus status = recovery_status(context.existing_engine());
  if (context.json) {
    context.print_json(recovery_status_json(status));
    return Exit::ok;
  }
  context.say(fmt::format("run level: {}{}{}", status.level, status.reason.empty() ? "" : ": ",
                          status.reason));
  if (!status.alarm.empty()) context.say(status.alarm);
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
  chosen(*command, context, std::make_shared<QueueRecoveryStatusOptions>(),
         run_queue_recovery_status);
}

}  // namespace holdfast::cli
