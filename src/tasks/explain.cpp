#include "tasks/explain.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "recovery/time_text.hpp"
#include "tasks/task_transfer.hpp"

namespace holdfast {

namespace {

constexpr std::size_t most_named = 5;

std::string moment(WallTime time, WallTime now) {
  return fmt::format("{} ({})", iso8601(time), age_text(time, now));
}

/// Reasons are sentences of their own; inside of ours they lose their full stop.
std::string quoted(std::string text) {
  while (text.ends_with('.') || text.ends_with('\n')) text.pop_back();
  return text;
}

const WorkerStatus* find_worker(const Circumstances& around, const std::optional<WorkerId>& id) {
  auto found = std::ranges::find_if(
      around.workers, [&](const WorkerStatus& worker) { return id && worker.id == *id; });
  return found == around.workers.end() ? nullptr : &*found;
}

bool takes(const WorkerStatus& worker, const TaskRecord& task) {
  auto among = [](const std::vector<std::string>& names, const std::string& name) {
    return names.empty() || std::ranges::find(names, name) != names.end();
  };
  return worker.state == WorkerState::running && !worker.draining &&
         among(worker.kinds, task.kind) && among(worker.queues, task.queue);
}

std::string explain_waiting_time(const TaskRecord& task, const Circumstances& around) {
  auto until = moment(task.run_at, around.now);
  auto paused = around.queue_paused ? fmt::format("; queue '{}' is paused as well", task.queue)
                                    : std::string{};
  if (task.attempt > 0 && !task.error.empty())
    return fmt::format(
        "It waits until {} before attempt {} of {}, because the last one failed "
        "({}){}.",
        until, task.attempt + 1, task.max_attempts, quoted(task.error), paused);
  if (task.recoveries > 0)
    return fmt::format(
        "It waits until {} because recovery took it back from a worker that died or "
        "fell silent{}.",
        until, paused);
  return fmt::format("It is scheduled to run no sooner than {}{}.", until, paused);
}

/// What the limit says about this one; nothing: it is about others.
std::optional<LimitUse> use_of(const LimitStatus& status, const TaskRecord& task,
                               const Circumstances& around) {
  const auto& limit = status.limit;
  const auto& name = limit.scope == LimitScope::queue  ? task.queue
                     : limit.scope == LimitScope::kind ? task.kind
                                                       : task.limit_key;
  if (name.empty() || (limit.name != name && limit.name != each_name)) return {};
  bool has_its_own = std::ranges::any_of(around.limits, [&](const LimitStatus& other) {
    return other.limit.scope == limit.scope && other.limit.name == name;
  });
  if (limit.name == each_name && has_its_own) return {};
  auto found = std::ranges::find(status.uses, name, &LimitUse::name);
  return found == status.uses.end() ? LimitUse{limit.scope, name} : *found;
}

/// The limit that keeps a task from being claimed now; empty: none does.
std::string explain_limits(const TaskRecord& task, const Circumstances& around) {
  for (const auto& status : around.limits) {
    auto use = use_of(status, task, around);
    if (!use) continue;
    const auto& limit = status.limit;
    auto what = fmt::format("{} '{}'", to_string(use->scope), use->name);
    if (limit.max_running == 0)
      return fmt::format("A limit lets no task of {} run: raise or remove it.", what);
    if (limit.max_running && use->running >= *limit.max_running)
      return fmt::format("A limit lets {} of {} run at once, and {} {} running: it waits for room.",
                         *limit.max_running, what, use->running, use->running == 1 ? "is" : "are");
    if (limit.rate && use->tokens == 0)
      return fmt::format("A limit lets {} of {} start in {}: it waits for its turn.",
                         limit.rate->tasks, what, duration_text(limit.rate->period));
  }
  return {};
}

std::string explain_ready(const TaskRecord& task, const Circumstances& around) {
  int workers = 0, slots = 0, holding = 0;
  for (const auto& worker : around.workers) {
    if (!takes(worker, task)) continue;
    ++workers;
    slots += worker.concurrency;
    holding += static_cast<int>(worker.holding.size());
  }
  auto due = age_text(task.run_at, around.now);
  if (workers == 0)
    return fmt::format("No running worker handles kind '{}' in queue '{}': start one.", task.kind,
                       task.queue);
  if (task.suspect)
    return fmt::format(
        "It was running when a worker crashed, so it runs alone next and waits "
        "until one of {} worker{} has nothing else to do.",
        workers, workers == 1 ? "" : "s");
  if (holding >= slots)
    return fmt::format(
        "It became due {}, but all {} handler{} of the {} worker{} for it "
        "are busy (priority {}; {} is first).",
        due, slots, slots == 1 ? "" : "s", workers, workers == 1 ? "" : "s", task.priority,
        highest_priority);
  return fmt::format(
      "It became due {} and is about to be claimed by one of {} "
      "worker{}.",
      due, workers, workers == 1 ? "" : "s");
}

std::string explain_pending(const TaskRecord& task, const Circumstances& around) {
  if (task.run_at > around.now) return explain_waiting_time(task, around);
  if (!around.being_moved_to.empty())
    return fmt::format(
        "The store is being moved to {} and starts nothing meanwhile: run 'holdfast move' to its "
        "end.",
        around.being_moved_to);
  if (around.queue_paused)
    return fmt::format("Queue '{}' is paused: resume it to let its tasks run.", task.queue);
  if (auto held_back = explain_limits(task, around); !held_back.empty()) return held_back;
  return explain_ready(task, around);
}

std::string explain_running(const TaskRecord& task, const Circumstances& around) {
  auto id = task.worker ? task.worker->text() : std::string{"unknown"};
  auto since = task.claimed_at ? moment(*task.claimed_at, around.now) : std::string{"its claim"};
  const auto* worker = find_worker(around, task.worker);
  if (!worker)
    return fmt::format(
        "Worker {}, which is not known any more, has held it since {}; recovery "
        "takes it back.",
        id, since);
  auto beat = age_text(worker->last_heartbeat, around.now);
  if (worker->state != WorkerState::running)
    return fmt::format(
        "Worker {} held it since {} and is {} ({}, last heartbeat {}); recovery "
        "takes it back.",
        id, since, worker->state == WorkerState::dead ? "dead" : "stopped",
        worker->cause.empty() ? worker->proof : quoted(worker->cause), beat);
  if (task.cancel_requested)
    return fmt::format(
        "It was asked to stop, and worker {}, which has held it since {}, has not "
        "ended it yet (last heartbeat {}).",
        id, since, beat);
  auto progress =
      task.progress > 0 ? fmt::format(", {:.0f} % done", 100 * task.progress) : std::string{};
  return fmt::format(
      "Worker {} ({}, pid {}) has held it since {}: attempt {} of {}{}, last "
      "heartbeat {}.",
      id, worker->host, worker->pid, since, task.attempt, task.max_attempts, progress, beat);
}

std::string explain_blocked(const TaskRecord& task, const Circumstances& around) {
  std::string names;
  bool failed = false;
  auto count = std::max(task.waits_for.size(), around.dependencies.size());
  for (std::size_t i = 0; i < std::min(around.dependencies.size(), most_named); ++i) {
    const auto& on = around.dependencies[i];
    names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", on.id.text(), to_string(on.state));
  }
  if (count > most_named) names += fmt::format(" and {} more", count - most_named);
  for (const auto& on : around.dependencies) failed |= on.state == TaskState::failed;
  return fmt::format("It waits for {} other task{} to complete: {}{}.", count,
                     count == 1 ? "" : "s", names,
                     failed ? "; the failed ones must be retried first" : "");
}

std::string explain_finished(const TaskRecord& task, const Circumstances& around) {
  auto since = task.finished_at ? moment(*task.finished_at, around.now) : std::string{"its end"};
  if (task.state == TaskState::completed)
    return fmt::format("It has been completed since {}.", since);
  auto why = task.error.empty() ? std::string{} : fmt::format(", with \"{}\"", quoted(task.error));
  return fmt::format("It has been {} since {}{}: retry it to run it again.", to_string(task.state),
                     since, why);
}

}  // namespace

std::string explain(const TaskRecord& task, const Circumstances& around) {
  switch (task.state) {
    case TaskState::pending:
      return explain_pending(task, around);
    case TaskState::running:
      return explain_running(task, around);
    case TaskState::blocked:
      return explain_blocked(task, around);
    case TaskState::held:
      if (is_being_moved(task))
        return fmt::format(
            "It {}: it runs there when the move has come to its end; run "
            "`holdfast move` again if it was interrupted.",
            quoted(task.cause));
      return fmt::format("It is held for an operator ({}): retry it to release it, or cancel it.",
                         task.cause.empty() ? "no cause was given" : quoted(task.cause));
    case TaskState::completed:
    case TaskState::failed:
    case TaskState::cancelled:
      break;
  }
  return explain_finished(task, around);
}

}  // namespace holdfast
