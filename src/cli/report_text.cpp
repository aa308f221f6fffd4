#include "cli/report_text.hpp"

#include "cli/json.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::cli {

namespace {

RecoveryReport harmless(RecoveryReport report) {
  report.trigger = plain(report.trigger);
  for (RecoveredTask& task : report.tasks) {
    task.reason = plain(task.reason);
    task.error = plain(task.error);
  }
  for (DeadWorker& worker : report.dead_workers) {
    worker.host = plain(worker.host);
    worker.cause = plain(worker.cause);
    worker.evidence = plain(worker.evidence);
  }
  return report;
}

}  // namespace

void print_report(const Context& context, const RecoveryReport& report) {
  if (context.json)
    context.print_json(json_line(to_json(report)));
  else
    context.print(to_text(harmless(report), wall_now()));
}

}  // namespace holdfast::cli
