#include <algorithm>

#include <fmt/format.h>

#include <holdfast/report.hpp>

#include "recovery/plain_text.hpp"
#include "recovery/recovery_action.hpp"
#include "recovery/start_up_text.hpp"
#include "recovery/time_text.hpp"

namespace holdfast {

namespace {

constexpr std::ptrdiff_t most_shown = 20;

std::string_view decision(TaskState now) {
  return now == TaskState::pending ? "runs again" : to_string(now);
}

/// Of a row nobody but its worker knows how many there may be.
std::string attempt_text(const RecoveredTask& task) {
  if (task.max_attempts == 0) return fmt::format("attempt {}", task.attempt);
  return fmt::format("attempt {}/{}", task.attempt, task.max_attempts);
}

void add_taken_back(std::string& text, const RecoveredTask& task) {
  text += fmt::format("  {}  {}, {}\n    {}\n", task.id.text(), decision(task.now),
                      attempt_text(task), plain(task.reason));
}

void add_failed(std::string& text, const RecoveredTask& task) {
  text += fmt::format("  {}  {}\n    {}\n", task.id.text(), attempt_text(task), plain(task.error));
}

void add_dead(std::string& text, const DeadWorker& worker, WallTime now) {
  text +=
      fmt::format("  {}  {}, pid {}, last heartbeat {}\n    {}{}{}\n", worker.id.text(),
                  plain(worker.host), worker.pid, age_text(worker.last_heartbeat, now),
                  plain(worker.cause), worker.evidence.empty() ? "" : "; ", plain(worker.evidence));
}

/// A list with its heading; what does not fit on a screen is counted. `all` may be more than are
/// there.
template <class Items, class Add>
void add_list(std::string& text, std::string_view heading, std::int64_t all, const Items& items,
              Add add) {
  text += fmt::format("\n{}: {}\n", heading, all);
  auto shown = std::min(std::ssize(items), most_shown);
  for (std::ptrdiff_t i = 0; i < shown; ++i) add(text, items[static_cast<std::size_t>(i)]);
  if (all > shown) text += fmt::format("  and {} more\n", all - shown);
}

/// `: 3 run again, 1 failed`; nothing where there are none.
std::string by_decision(const OrphanCounts& counts) {
  std::string text;
  auto add = [&](std::int64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", count, what);
  };
  add(counts.pending, "run again");
  add(counts.failed, "failed");
  add(counts.held, "held");
  add(counts.cancelled, "cancelled");
  add(counts.not_taken, "could not be taken back");
  return text;
}

void add_head(std::string& text, const RecoveryReport& report, WallTime now) {
  bool plan = report.state == ReportState::dry_run;
  text += plan ? "Recovery, dry run: this is what it would do; nothing was changed\n"
               : "Recovery report\n";
  text += fmt::format("  started:   {} ({})\n", iso8601(report.started_at),
                      age_text(report.started_at, now));
  text += fmt::format("  trigger:   {}\n  action:    {}\n", plain(report.trigger),
                      to_string(report.action));
  if (report.state == ReportState::running) text += "  state:     still at work\n";
  if (report.state == ReportState::interrupted)
    text +=
        "  state:     interrupted: it did not come to its end. What it did until then is all\n"
        "             here; the next recovery went on.\n";
  text += fmt::format("  took:      {}\n", duration_text(report.duration));
}

void add_orphans(std::string& text, const RecoveryReport& report) {
  std::vector<const RecoveredTask*> taken, failed;
  for (const auto& task : report.tasks) (task.success ? taken : failed).push_back(&task);
  const auto& counts = report.orphans;
  text += fmt::format("\nOrphans found: {}{}\n", counts.all(), by_decision(counts));
  bool plan = report.state == ReportState::dry_run;
  if (counts.taken() > 0)
    add_list(text, plan ? "Orphans that would be taken back" : "Orphans taken back", counts.taken(),
             taken, [](std::string& to, const RecoveredTask* task) { add_taken_back(to, *task); });
  if (counts.not_taken > 0)
    add_list(text, "Orphans that could not be taken back", counts.not_taken, failed,
             [](std::string& to, const RecoveredTask* task) { add_failed(to, *task); });
}

}  // namespace

std::string to_text(const RecoveryReport& report, WallTime now) {
  std::string text;
  add_head(text, report, now);
  if (report.start_up) text += "\n" + to_text(*report.start_up, now);
  add_orphans(text, report);
  add_list(text, "Dead workers", std::ssize(report.dead_workers), report.dead_workers,
           [&](std::string& to, const DeadWorker& worker) { add_dead(to, worker, now); });
  if (!report.errors.empty())
    add_list(text, "Errors", std::ssize(report.errors), report.errors,
             [](std::string& to, const std::string& error) { to += "  " + plain(error) + "\n"; });
  if (report.waiting > 0)
    text += fmt::format(
        "\nPast their time by the server's clock, and perhaps renewed yet: {}. A look in {} takes\n"
        "back what is not.\n",
        report.waiting, duration_text(report.look_again));
  text += fmt::format("\nStale writes refused since the report before: {}\n",
                      report.stale_writes_refused);
  if (report.state == ReportState::complete)
    text += fmt::format("Completed: {}\n", iso8601(report.completed_at));
  else if (report.state != ReportState::dry_run)
    text += fmt::format("Last commit: {}\n", iso8601(report.completed_at));
  return text;
}

}  // namespace holdfast
