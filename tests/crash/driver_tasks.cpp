#include "crash/driver_tasks.hpp"

#include <condition_variable>
#include <csignal>
#include <mutex>

namespace holdfast::test {

namespace {

/// Stands for work of `ms` milliseconds. False: told to stop before it was over.
bool work_for(Millis length, std::stop_token stop) {
  std::mutex mutex;
  std::unique_lock lock{mutex};
  std::condition_variable_any never;
  never.wait_for(lock, stop, length, [] { return false; });
  return !stop.stop_requested();
}

Outcome end(const Journal& journal, const Attempt& attempt, std::string_view how, Outcome outcome) {
  journal.say(Said::returned, attempt.task(), attempt.token(), how);
  return outcome;
}

Outcome handle_order(const Order& order, Attempt& attempt, const Journal& journal) {
  auto id = attempt.task();
  auto token = attempt.token();
  journal.say(Said::started, id, token);
  attempt.log("started");
  attempt.progress(0.5, "under way");
  if (order.manner == "poison") std::raise(SIGSEGV);
  if (order.manner == "doomed") return end(journal, attempt, "failed", fail("doomed"));
  if (order.manner == "flaky" && attempt.number() == 1)
    return end(journal, attempt, "failed", retry_in(Millis{1}, "flaky"));

  journal.say(Said::recording, id, token);
  auto charge = attempt.record_once("charge", std::to_string(token.value));
  journal.say(Said::recorded, id, token, charge);

  auto stop = order.manner == "stubborn" ? std::stop_token{} : attempt.stop_token();
  if (!work_for(Millis{order.ms}, stop))
    return end(journal, attempt, "other", retry("told to stop"));

  if (order.manner == "hopeful") {
    attempt.then("receipt", Receipt{id.text()}, {.after = {TaskId::make()}});
    return end(journal, attempt, "failed", done);
  }
  auto receipt = attempt.then("receipt", Receipt{id.text()}, {.max_attempts = 1'000});
  journal.say(Said::follow_up, id, token, receipt.text());
  return end(journal, attempt, "done", done_with(OrderResult{token.value}));
}

Outcome handle_receipt(const Receipt&, Attempt& attempt, const Journal& journal) {
  journal.say(Said::started, attempt.task(), attempt.token());
  return end(journal, attempt, "done", done);
}

}  // namespace

void add_handlers(Tasks& tasks, const Journal& journal) {
  tasks.on<Order>("order", [&](const Order& order, Attempt& attempt) {
    return handle_order(order, attempt, journal);
  });
  tasks.on<Receipt>("receipt", [&](const Receipt& receipt, Attempt& attempt) {
    return handle_receipt(receipt, attempt, journal);
  });
}

void listen(const Engine& engine, const Journal& journal) {
  engine.events().subscribe([&journal](const Event& event) {
    if (const auto* changed = std::get_if<TaskChanged>(&event)) {
      const auto& step = changed->transition;
      if (step.from == TaskState::running)
        journal.say(Said::settled, changed->id, step.token, to_string(step.to));
    } else if (const auto* refused = std::get_if<StaleWriteRefused>(&event)) {
      journal.say(Said::refused, refused->id, refused->token, refused->what);
    }
  });
}

}  // namespace holdfast::test
