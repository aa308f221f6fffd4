#include <holdfast/inspector.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/events.hpp>

#include "tasks/engine_parts.hpp"
#include "tasks/explain.hpp"
#include "tasks/figures.hpp"
#include "tasks/history.hpp"
#include "tasks/names.hpp"

namespace holdfast {

namespace {

/// Longer than anybody is silent who lives.
constexpr Millis told_within{10 * 60'000};

TaskFilter only(std::vector<TaskId> ids) {
  TaskFilter filter;
  filter.ids = std::move(ids);
  return filter;
}

std::vector<TaskRecord> find(TaskAdmin& admin, std::vector<TaskId> ids) {
  if (ids.empty()) return {};
  auto limit = static_cast<int>(ids.size());
  return admin.search(only(std::move(ids)), {.limit = limit});
}

std::int64_t move_aloud(EngineParts& parts, const TaskFilter& filter, TaskAdmin::Move move) {
  require_not_moved(parts);
  const auto& events = parts.events();
  if (events.heard())
    move.on_change = [&](TaskId id, const std::string& kind, const Transition& step) {
      events.emit(TaskChanged{id, kind, step});
    };
  return parts.admin().move(filter, move);
}

/// Heartbeats say what workers held some time ago; the tasks say what they hold now. More than this
/// many would not change the answer.
void put_in_hands(TaskAdmin& admin, std::vector<WorkerStatus>& workers) {
  for (auto& worker : workers) worker.holding.clear();
  for (const auto& task : admin.search({.states = {TaskState::running}}, {.limit = 1'000})) {
    auto owner = std::ranges::find(workers, task.worker, &WorkerStatus::id);
    if (owner != workers.end()) owner->holding.push_back(task.id);
  }
}

}  // namespace

Inspector::Inspector(Engine engine, std::string actor)
    : engine_{std::move(engine)}, actor_{std::move(actor)} {}

std::optional<TaskRecord> Inspector::task(TaskId id) const {
  auto found = find(engine_.parts().admin(), {id});
  if (found.empty()) return {};
  return std::move(found.front());
}

std::vector<TaskRecord> Inspector::tasks(const TaskFilter& filter, TaskPage page) const {
  return engine_.parts().admin().search(filter, page);
}

std::int64_t Inspector::count(const TaskFilter& filter) const {
  return engine_.parts().admin().count(filter);
}

TaskCount Inspector::count_within(const TaskFilter& filter, Millis longest) const {
  auto& parts = engine_.parts();
  const auto until = parts.clock().steady() + longest;
  TaskCount found;
  found.tasks =
      parts.admin().count(filter, [&] { return found.complete = parts.clock().steady() < until; });
  return found;
}

std::vector<Transition> Inspector::history(TaskId id) const {
  auto found = task(id);
  if (!found) return {};
  return full_history(*found, engine_.parts().admin().recorded_history(id));
}

std::vector<LogLine> Inspector::logs(TaskId id) const { return engine_.parts().admin().logs(id); }

std::string Inspector::explain(TaskId id) const {
  auto found = task(id);
  if (!found) throw InvalidRequest{fmt::format("there is no task {}", id.text())};
  auto& parts = engine_.parts();
  Circumstances around;
  around.now = parts.clock().wall();
  around.workers = workers();
  put_in_hands(parts.admin(), around.workers);
  around.dependencies = find(parts.admin(), found->waits_for);
  around.queue_paused = std::ranges::count(parts.admin().paused(), found->queue) > 0;
  if (auto note = parts.move_note(); note && !note->done) around.being_moved_to = note->to;
  if (auto* limits = parts.limit_store()) around.limits = limits->list();
  return holdfast::explain(*found, around);
}

std::vector<QueueStatus> Inspector::queues() const { return engine_.parts().admin().queues(); }

std::vector<WorkerStatus> Inspector::workers() const {
  auto& registry = engine_.parts().workers();
  auto workers = registry.list();
  std::map<WorkerId, WorkerStatus*> running;
  for (auto& worker : workers)
    if (worker.state == WorkerState::running) running[worker.id] = &worker;
  if (running.empty()) return workers;
  for (const auto& told : registry.figures(told_within))
    if (const auto at = running.find(told.worker); at != running.end())
      if (auto figures = Figures::parse(told.figures)) {
        at->second->draining = figures->draining;
        at->second->paused_kinds = std::move(figures->paused);
        at->second->troubles = std::move(figures->troubles);
      }
  return workers;
}

IntegrityResult Inspector::check_integrity(bool full, std::stop_token stop) const {
  auto result = engine_.parts().check_integrity(full, std::move(stop));
  engine_.events().emit(IntegrityChecked{result});
  return result;
}

std::string Inspector::moved_to() const {
  auto note = engine_.parts().move_note();
  return note && note->closed ? note->to : std::string{};
}

std::string Inspector::durability() const { return engine_.parts().durability(); }

std::string Inspector::durability_warning() const { return engine_.parts().durability_warning(); }

std::int64_t Inspector::cancel(const TaskFilter& filter, bool force) {
  TaskAdmin::Move move;
  move.to = TaskState::cancelled;
  move.from = {TaskState::pending, TaskState::running, TaskState::blocked, TaskState::held,
               TaskState::failed};
  move.ask_running = !force;
  move.actor = actor_;
  move.reason = force ? "It was cancelled by force." : "It was cancelled.";
  return move_aloud(engine_.parts(), filter, std::move(move));
}

std::int64_t Inspector::retry(const TaskFilter& filter) {
  TaskAdmin::Move move;
  move.to = TaskState::pending;
  move.from = {TaskState::failed, TaskState::held, TaskState::cancelled};
  move.fresh_attempts = true;
  move.actor = actor_;
  move.reason = "It is to be tried again with fresh attempts.";
  return move_aloud(engine_.parts(), filter, std::move(move));
}

std::int64_t Inspector::hold(const TaskFilter& filter, const std::string& cause) {
  TaskAdmin::Move move;
  move.to = TaskState::held;
  move.from = {TaskState::pending, TaskState::blocked};
  move.actor = actor_;
  move.reason = cause.empty() ? "An operator put it on hold." : cause;
  return move_aloud(engine_.parts(), filter, std::move(move));
}

void Inspector::pause(const std::string& queue) {
  check_name("queue", queue, longest_name);
  require_not_moved(engine_.parts());
  engine_.parts().admin().set_paused(queue, true, actor_);
}

void Inspector::resume(const std::string& queue) {
  check_name("queue", queue, longest_name);
  require_not_moved(engine_.parts());
  engine_.parts().admin().set_paused(queue, false, actor_);
}

std::int64_t TaskAdmin::prune(const Settings::Retention& retention) {
  constexpr int a_step = 1'000, enough = 100'000;
  std::int64_t total = 0, removed = 0;
  do {
    removed = prune(retention, a_step).removed;
    total += removed;
  } while (removed > 0 && total < enough);
  return total;
}

std::int64_t Inspector::prune() {
  return engine_.parts().admin().prune(engine_.settings().retention);
}

}  // namespace holdfast
