#include <algorithm>

#include "simulation/ledger.hpp"
#include "tasks/transitions.hpp"

namespace holdfast::sim {

void Ledger::observe(std::optional<TaskId> moved_by_person) {
  auto rows = probe_.tasks();
  std::size_t known = 0;
  for (const auto& row : rows) {
    if (!there_.contains(row.id)) {
      find(Defect::unexpected, fmt::format("task {} is in the store", row.id.text()));
      continue;
    }
    ++known;
    compare(entries_.at(row.id), row, row.id == moved_by_person);
  }
  for (auto id : there_) {
    // Whoever waited for it is cancelled with it, and if retried does not wait for it again.
    std::erase_if(entries_.at(id).after, [&](TaskId other) {
      return entries_.at(other).row.state == TaskState::cancelled;
    });
  }
  if (known != there_.size())
    find(Defect::lost, fmt::format("{} tasks of {} are left", known, there_.size()));
}

void Ledger::compare(Entry& task, const TaskRow& row, bool moved_by_person) {
  auto& expected = task.row;
  bool changed = row.state != expected.state;
  if (changed && moved_by_person) {
    if (!allowed(expected.state, row.state, Mover::person))
      find(Defect::unexplained, fmt::format("an operator moved {} from {} to {}", name(task),
                                            to_string(expected.state), to_string(row.state)));
    task.owner_changed = expected.state == TaskState::running;
    if (task.owner_changed) hit(Sometimes::taken_by_force);
    if (is_finished(expected.state)) task.ends = 0;
    bool fresh = row.state == TaskState::pending || row.state == TaskState::blocked;
    if (expected.state == TaskState::failed && fresh) task.retried = true;
    if (fresh) task.failures = 0, expected.attempt = 0, expected.crashes = 0;
    if (fresh) expected.suspect = false;
    expected.cancel_requested = false;
    task.held.reset();
    ended(task, row.state);
  } else if (changed) {
    check_dependency(task, row);
    ended(task, row.state);
  }
  expected.state = row.state;

  bool grown = row.token > expected.token;
  if (task.owner_changed ? !grown : row.token != expected.token)
    find(Defect::token_not_grown, fmt::format("{} in state {}", name(task), to_string(row.state)));
  task.owner_changed = false;
  bool held = task.held && task.held->token == row.token;
  if (held != (row.state == TaskState::running))
    find(Defect::unexplained,
         fmt::format("{} is {} under another token", name(task), to_string(row.state)));
  if (row.attempt != expected.attempt || row.crashes != expected.crashes ||
      row.recoveries != static_cast<int>(task.taken.size()) || row.suspect != expected.suspect ||
      row.cancel_requested != expected.cancel_requested)
    find(Defect::unexplained,
         fmt::format("{}: attempt {} for {}, crashes {} for {}, recoveries {} for {}, suspect {} "
                     "for {}, cancel {} for {}",
                     name(task), row.attempt, expected.attempt, row.crashes, expected.crashes,
                     row.recoveries, task.taken.size(), row.suspect, expected.suspect,
                     row.cancel_requested, expected.cancel_requested));
  if (row.attempt > task.max_attempts || row.crashes > most_crashes_)
    find(Defect::over_limit,
         fmt::format("{}: {} attempts, {} crashes", name(task), row.attempt, row.crashes));
  if (row.state == TaskState::held && row.cause.empty())
    find(Defect::stuck, fmt::format("{} is held and nobody knows why", name(task)));
  expected = row;
}

bool Ledger::waits_for_nothing(const Entry& task) const {
  return task.row.state == TaskState::blocked && std::ranges::all_of(task.after, [&](TaskId id) {
           return entries_.at(id).row.state == TaskState::completed;
         });
}

void Ledger::check_dependency(const Entry& task, const TaskRow& row) {
  bool released = waits_for_nothing(task) && row.state == TaskState::pending;
  bool cancelled = task.row.state == TaskState::blocked && row.state == TaskState::cancelled &&
                   std::ranges::any_of(task.after, [&](TaskId id) {
                     return entries_.at(id).row.state == TaskState::cancelled;
                   });
  if (released) hit(Sometimes::dependent_released);
  if (cancelled) hit(Sometimes::dependent_cancelled);
  if (!released && !cancelled)
    find(Defect::unexplained, fmt::format("{} went from {} to {}", name(task),
                                          to_string(task.row.state), to_string(row.state)));
}

std::optional<WallTime> Ledger::next_due() const {
  std::optional<WallTime> next;
  for (auto id : there_) {
    const auto& task = entries_.at(id);
    if (task.row.state != TaskState::pending || paused_.contains(task.queue)) continue;
    if (!next || task.row.run_at < *next) next = task.row.run_at;
  }
  return next;
}

bool Ledger::claimable() const {
  auto next = next_due();
  return next && *next <= clock_.wall();
}

bool Ledger::quiet() const {
  return std::ranges::none_of(there_, [&](TaskId id) { return entries_.at(id).held.has_value(); });
}

bool Ledger::all_over() const {
  return std::ranges::all_of(there_, [&](TaskId id) {
    const auto& task = entries_.at(id);
    if (task.row.state != TaskState::blocked)
      return is_finished(task.row.state) || task.row.state == TaskState::held;
    // Blocked is an end only if what it waits for has come to one that is not completion.
    return std::ranges::any_of(task.after, [&](TaskId other) {
      auto state = entries_.at(other).row.state;
      return state == TaskState::failed || state == TaskState::held || state == TaskState::blocked;
    });
  });
}

void Ledger::check_end() {
  for (auto id : there_) {
    const auto& task = entries_.at(id);
    bool charged = task.row.state == TaskState::failed || task.row.state == TaskState::held ||
                   task.row.state == TaskState::pending;
    if (charged && task.row.attempt != task.failures)
      find(Defect::wrong_charge,
           fmt::format("{} is {} with {} attempts charged, {} of them for a "
                       "reason",
                       name(task), to_string(task.row.state), task.row.attempt, task.failures));
  }
  if (!all_over()) {
    for (auto id : there_) {
      const auto& task = entries_.at(id);
      trace_.say("end: {} {}", name(task), to_string(task.row.state));
    }
    find(Defect::stuck, "not everything came to an end");
  }
  std::vector<RecoveryRow> taken;
  for (const auto& row : probe_.tasks()) {
    const auto& task = entries_.at(row.id);
    taken.insert(taken.end(), task.taken.begin(), task.taken.end());
  }
  if (probe_.recoveries() != taken)
    find(Defect::report_mismatch, "the recorded history differs from what recovery did");
  if (probe_.refused() != refusals_)
    find(Defect::refusal_uncounted,
         fmt::format("{} counted, {} refused", probe_.refused(), refusals_));
}

}  // namespace holdfast::sim
