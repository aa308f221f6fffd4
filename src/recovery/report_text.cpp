#include <algorithm>

#include <fmt/format.h>

#include <holdfast/report.hpp>

#include "recovery/plain_text.hpp"
#include "recovery/time_text.hpp"

namespace holdfast {

namespace {

constexpr std::size_t most_shown = 20;

std::string_view decision(TaskState now) {
  return now == TaskState::pending ? "runs again" : to_string(now);
}

void add_taken_back(std::string& text, const RecoveredTask& task) {
  text += fmt::format("  {}  {}, attempt {}/{}\n    {}\n", task.id.text(), decision(task.now),
                      task.attempt, task.max_attempts, plain(task.reason));
}

void add_failed(std::string& text, const RecoveredTask& task) {
  text += fmt::format("  {}  attempt {}/{}\n    {}\n", task.id.text(), task.attempt,
                      task.max_attempts, plain(task.error));
}

void add_dead(std::string& text, const DeadWorker& worker, WallTime now) {
  text +=
      fmt::format("  {}  {}, pid {}, last heartbeat {}\n    {}{}{}\n", worker.id.text(),
                  plain(worker.host), worker.pid, age_text(worker.last_heartbeat, now),
                  plain(worker.cause), worker.evidence.empty() ? "" : "; ", plain(worker.evidence));
}

/// A list with its heading; what does not fit on a screen is counted.
template <class Items, class Add>
void add_list(std::string& text, std::string_view heading, const Items& items, Add add) {
  text += fmt::format("\n{}: {}\n", heading, items.size());
  for (std::size_t i = 0; i < std::min(items.size(), most_shown); ++i) add(text, items[i]);
  if (items.size() > most_shown) text += fmt::format("  and {} more\n", items.size() - most_shown);
}

}  // namespace

std::string to_text(const RecoveryReport& report, WallTime now) {
  std::vector<RecoveredTask> taken, failed;
  for (const auto& task : report.tasks) (task.success ? taken : failed).push_back(task);

  auto text =
      fmt::format("Recovery report\n  started:   {} ({})\n  trigger:   {}\n  took:      {}\n",
                  iso8601(report.started_at), age_text(report.started_at, now),
                  plain(report.trigger), duration_text(report.duration));
  add_list(text, "Orphans taken back", taken, add_taken_back);
  if (!failed.empty()) add_list(text, "Orphans that could not be taken back", failed, add_failed);
  add_list(text, "Dead workers", report.dead_workers,
           [&](std::string& to, const DeadWorker& worker) { add_dead(to, worker, now); });
  text += fmt::format("\nStale writes refused since the report before: {}\n",
                      report.stale_writes_refused);
  text += fmt::format("Completed: {}\n", iso8601(report.completed_at));
  return text;
}

}  // namespace holdfast
