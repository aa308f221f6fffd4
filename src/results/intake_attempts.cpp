#include "results/intake_attempts.hpp"

#include <chrono>

#include <fmt/format.h>

#include <holdfast/inspector.hpp>
#include <holdfast/state_machine.hpp>

#include "tasks/reserved.hpp"
#include "transactions/message_attempts.hpp"

namespace holdfast::results {

namespace {

constexpr const char* attempt_kind = "holdfast.intake-attempt";
constexpr const char* attempt_queue = "holdfast.intake-attempts";
/// Nothing works on this queue.
constexpr Millis never{std::chrono::hours{24 * 365 * 10}};

/// The same for every process, whatever it is called with later.
TaskId attempt_task(std::uint64_t message, int number) {
  return transaction_task(fmt::format("intake-{:016x}-{}", message, number));
}

}  // namespace

bool IntakeAttempts::begin(Delivery& delivery) const {
  const auto message = static_cast<std::uint64_t>(attempts_line_of(delivery));
  const Inspector inspector{engine_};
  for (int number = 0; number < most; ++number) {
    const auto id = attempt_task(message, number);
    const auto found = inspector.task(id);
    if (found && found->state == TaskState::pending) continue;
    // One that ended well, and the same came again: it counts from zero.
    if (found) Inspector{engine_}.retry({.kind = attempt_kind, .ids = {id}});
    if (found) return true;
    NewTask task{attempt_kind, "null", {}};
    task.options.id = id;
    task.options.queue = attempt_queue;
    task.options.delay = never;
    enqueue_own(engine_, {std::move(task)});
    return true;
  }
  return false;
}

void IntakeAttempts::forget(Delivery& delivery) const {
  const auto message = static_cast<std::uint64_t>(attempts_line_of(delivery));
  std::vector<TaskId> ids;
  for (int number = 0; number < most; ++number) ids.push_back(attempt_task(message, number));
  Inspector{engine_}.cancel({.kind = attempt_kind, .ids = std::move(ids)});
}

}  // namespace holdfast::results
