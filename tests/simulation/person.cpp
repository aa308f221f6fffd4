#include "simulation/person.hpp"

#include <iterator>

namespace holdfast::sim {

void Person::step() {
  auto& dice = world_.dice;
  if (dice.percent(15)) {
    pause(dice.percent(70) ? "a" : "b", dice.percent(40));
    return;
  }
  const auto& entries = world_.ledger.entries();
  if (entries.empty()) return;
  auto chosen = std::next(entries.begin(), dice.below(static_cast<int>(entries.size())));
  if (world_.ledger.in_store(chosen->first)) act_on(chosen->first);
}

void Person::act_on(TaskId id) {
  using enum TaskState;
  auto& dice = world_.dice;
  switch (world_.ledger.entry(id).row.state) {
    case running:
      if (dice.percent(60))
        move(id, {.ask_running = true, .actor = "operator", .reason = "not wanted"},
             "asks to stop");
      else
        move(id, {.to = cancelled, .from = {running}, .actor = "operator", .reason = "not wanted"},
             "takes by force");
      break;
    case pending:
    case blocked:
      if (dice.percent(50))
        move(id, {.to = held, .from = {pending, blocked}, .actor = "operator", .reason = "wait"},
             "holds");
      else
        move(id,
             {.to = cancelled,
              .from = {pending, blocked, held, failed},
              .actor = "operator",
              .reason = "not wanted"},
             "calls off");
      break;
    case held:
    case failed:
    case cancelled:
      move(id,
           {.to = pending,
            .from = {failed, held, cancelled},
            .fresh_attempts = true,
            .actor = "operator",
            .reason = "again"},
           "retries");
      break;
    case completed:
      break;
  }
}

void Person::move(TaskId id, TaskAdmin::Move move, const char* what) {
  world_.yield();
  world_.engine.admin().move(TaskFilter{.ids = {id}}, move);
  world_.trace.say("operator {} t{}", what, world_.number(id));
  world_.ledger.moved(id, move);
}

void Person::pause(const std::string& queue, bool paused) {
  world_.engine.admin().set_paused(queue, paused, "operator");
  world_.trace.say("operator {} {}", paused ? "pauses" : "resumes", queue);
  world_.ledger.paused(queue, paused);
}

void Person::resume_all() {
  for (const char* queue : {"a", "b"}) pause(queue, false);
}

}  // namespace holdfast::sim
