#include <holdfast/tasks.hpp>

#include <limits>

#include <holdfast/error.hpp>

#include "tasks/engine_parts.hpp"
#include "tasks/names.hpp"
#include "tasks/reserved.hpp"

namespace holdfast {

namespace {

/// Completed and cancelled tasks are history; work that waits is not, and neither are dead letters.
/// When there is no room for new work, history goes first.
constexpr Settings::Retention shed_history{
    .completed = std::chrono::hours{0},
    .failed = std::chrono::hours{24 * 365 * 100},
    .max_finished = std::numeric_limits<std::int64_t>::max() / 2,
    .max_bytes = 0};

/// Sheds no more history than it takes, and little at a time: that, too, needs room at first.
std::vector<Inserted> insert(EngineParts& parts, const std::vector<NewTask>& tasks) {
  constexpr int shed_at_once = 100;
  while (true) {
    try {
      return parts.tasks().insert(tasks);
    } catch (const StoreFull& full) {
      if (!full.history_is_in_the_way()) throw;
      if (parts.admin().prune(shed_history, shed_at_once).removed == 0) throw;
    }
  }
}

void tell(EngineParts& parts, const std::vector<NewTask>& tasks,
          const std::vector<Inserted>& inserted) {
  if (!parts.events().heard()) return;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!inserted[i].created) continue;
    Transition step{{}, inserted[i].state, "client", {}, {}, 0, parts.clock().wall()};
    parts.events().emit(TaskChanged{inserted[i].id, tasks[i].kind, std::move(step)});
  }
}

std::vector<TaskId> add(EngineParts& parts, std::vector<NewTask> tasks) {
  for (auto& task : tasks)
    if (!task.options.id) task.options.id = TaskId::make();
  std::vector<TaskId> ids;
  ids.reserve(tasks.size());
  auto inserted = insert(parts, tasks);
  for (const auto& one : inserted) ids.push_back(one.id);
  tell(parts, tasks, inserted);
  return ids;
}

}  // namespace

Tasks& Tasks::on_json(std::string kind, Handler handler) {
  check_name("kind", kind, longest_name);
  if (async_handlers_.contains(kind) || !handlers_.emplace(kind, std::move(handler)).second) {
    throw InvalidRequest{"two handlers for tasks of kind '" + kind + "'; keep one"};
  }
  return *this;
}

Tasks& Tasks::on_async(std::string kind, AsyncHandler handler) {
  check_name("kind", kind, longest_name);
  if (handlers_.contains(kind) || !async_handlers_.emplace(kind, std::move(handler)).second) {
    throw InvalidRequest{"two handlers for tasks of kind '" + kind + "'; keep one"};
  }
  return *this;
}

TaskId Tasks::enqueue(NewTask task) {
  std::vector<NewTask> one;
  one.push_back(std::move(task));
  return enqueue_all(std::move(one)).front();
}

std::vector<TaskId> Tasks::enqueue_all(std::vector<NewTask> tasks) {
  for (const auto& task : tasks) validate(task, engine_.settings());
  return add(engine_.parts(), std::move(tasks));
}

std::vector<TaskId> enqueue_own(const Engine& engine, std::vector<NewTask> tasks) {
  for (const auto& task : tasks) validate_own(task, engine.settings());
  return add(engine.parts(), std::move(tasks));
}

const Settings& Engine::settings() const { return parts_->settings(); }
RunLevel Engine::run_level() const { return parts_->run_level(); }
Events& Engine::events() const { return parts_->events(); }
std::string Engine::name() const { return parts_->name(); }

void require_writable(const EngineParts& parts) {
  if (parts.run_level() != RunLevel::normal) throw StoreReadOnly{parts.why_read_only()};
}

void require_not_moved(EngineParts& parts) {
  auto note = parts.move_note();
  if (note && note->closed)
    throw StoreMoved{parts.name() + " was moved to " + note->to + "; do that there"};
}

ScheduleStore& EngineParts::schedules() {
  if (auto* store = schedule_store()) return *store;
  throw InvalidRequest{name() + " cannot keep schedules; use another engine for them"};
}

LimitStore& EngineParts::limits() {
  if (auto* store = limit_store()) return *store;
  throw InvalidRequest{name() + " cannot keep limits; use another engine for them"};
}

TransactionStore& EngineParts::transactions() {
  if (auto* store = transaction_store()) return *store;
  throw InvalidRequest{name() + " cannot keep transactions; use another engine for them"};
}

std::optional<MoveNote> EngineParts::move_note() {
  auto* tasks = task_transfer();
  return tasks ? tasks->note() : std::nullopt;
}

TaskTransfer& EngineParts::transfer() {
  if (auto* tasks = task_transfer()) return *tasks;
  throw InvalidRequest{name() + " can neither give tasks to another store nor take them"};
}

}  // namespace holdfast
