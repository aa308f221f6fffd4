#include <algorithm>

#include "recovery/actors.hpp"
#include "tasks/recovery_of.hpp"
#include "transactions/runner_state.hpp"

namespace holdfast {

namespace {

/// So many recoveries are remembered; what is forgotten is looked up again.
constexpr std::size_t most_remembered = 100'000;

/// Whether the claim that is running came after recovery had taken the task back.
bool came_from_recovery(const std::vector<Transition>& history) {
  auto claim =
      std::ranges::find(history.rbegin(), history.rend(), TaskState::running, &Transition::to);
  return claim != history.rend() && std::next(claim) != history.rend() &&
         std::next(claim)->actor == actors::recovery;
}

}  // namespace

void TransactionRunner::Impl::look_for_recoverable() {
  auto& events = engine_.events();
  events.emit(transaction_note({}, machine_.name, TransactionNote::checking));
  try {
    auto report = recovery_of(engine_.parts()).run_once("start-up");
    std::vector<TaskId> ids;
    for (const auto& task : report.tasks)
      if (task.success && task.now == TaskState::pending) ids.push_back(task.id);
    std::int64_t found = 0;
    if (!ids.empty())
      found = Inspector{engine_}.count(
          {.queue = machine_.name, .kind = transaction_kind, .ids = std::move(ids)});
    events.emit(transaction_note({}, machine_.name, TransactionNote::found, std::to_string(found)));
  } catch (const StoreError& error) {
    // The worker that begins next deals with it, and recovers when the store is there.
    trouble("looking for recoverable transactions", error);
  }
}

void TransactionRunner::Impl::note_recoveries(std::span<const HeldPtr> some,
                                              const std::vector<TaskId>& ids) {
  auto tasks = Inspector{engine_}.tasks({.ids = ids},
                                        {.limit = static_cast<int>(ids.size()), .longest_text = 0});
  for (const auto& task : tasks)
    for (const auto& held : some)
      if (held->transaction.attempt().task() == task.id) {
        held->recoveries = task.recoveries;
        held->crashes = task.crashes;
      }
}

void TransactionRunner::Impl::tell_of(const Held& held, TransactionNote note,
                                      std::string_view detail) const {
  engine_.events().emit(transaction_note(held.transaction.id(), machine_.name, note, detail));
}

bool TransactionRunner::Impl::tell_if_recovered(const Held& held) {
  const auto task = held.transaction.attempt().task();
  if (held.recoveries == 0) return false;
  {
    std::lock_guard lock{mutex_};
    if (recoveries_told_.size() > most_remembered) recoveries_told_.clear();
    if (recoveries_told_[task] == held.recoveries) return false;
  }
  const bool recovered = came_from_recovery(Inspector{engine_}.history(task));
  {
    std::lock_guard lock{mutex_};
    recoveries_told_[task] = held.recoveries;
  }
  if (!recovered) return false;
  tell_of(held, TransactionNote::recovering);
  tell_of(held, TransactionNote::recovered, held.transaction.state());
  return true;
}

}  // namespace holdfast
