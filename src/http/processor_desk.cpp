#include "http/forget.hpp"
#include "http/phase.hpp"
#include "http/processor_state.hpp"
#include "recovery/clock.hpp"

namespace holdfast::http {

void Processor::State::announce(Held& held, Ticket ticket) {
  if (held.attempt->stop_requested()) return;  // then it is being cancelled
  try {
    held.announced = begin_sending(*held.attempt, engine_);
    if (held.announced) return loop_->go_on(ticket);
    held.instead = hold(
        "It may have been sent by an earlier attempt, and is not sent again by itself. "
        "'holdfast task retry' sends it again.");
  } catch (const std::exception& error) {
    held.instead = retry(error.what());
  }
  loop_->cancel(ticket);
}

void Processor::State::end(const HeldPtr& held) {
  {
    std::lock_guard lock{held->mutex};
    held->on_stop.reset();
    --in_flight_;
  }
  if (std::holds_alternative<Response>(held->answer.what)) ++answered_;
  if (std::holds_alternative<RequestError>(held->answer.what)) ++errors_;
  conclude(held);
}

void Processor::State::conclude(const HeldPtr& held) {
  held->instead ? held->attempt->end(std::move(*held->instead)) : settle(held);
}

void Processor::State::settle(const HeldPtr& held) {
  auto& attempt = *held->attempt;
  AttemptFacts facts{.number = attempt.number(),
                     .max_attempts = attempt.max_attempts(),
                     .raise_error_responses = held->request.raise_error_responses.value_or(
                         options_.raise_error_responses),
                     .now = system_clock().wall()};
  auto ending = decide_ending(held->request, held->answer, facts);
  bool goes_on = std::holds_alternative<Retry>(ending.outcome) ||
                 std::holds_alternative<Snooze>(ending.outcome);
  bool known = std::holds_alternative<Response>(held->answer.what) || !held->answer.maybe_sent;
  if (held->announced && goes_on && known) may_be_sent_again(attempt);
  if (!may_need_blob(*held, ending)) return deliver(held, std::move(ending));
  writers_.put(
      [this, held, ending = std::move(ending)]() mutable { deliver(held, std::move(ending)); });
}

bool Processor::State::may_need_blob(const Held& held, const Ending& ending) const {
  if (!options_.payloads.blobs) return false;
  auto bytes = ending.delivery.size();
  const auto* done = std::get_if<Done>(&ending.outcome);
  if (done && held.request.callback.empty()) bytes = done->text.size();
  // Encryption makes it longer by a third and a little.
  return 2 * bytes > options_.payloads.threshold;
}

void Processor::State::sweep_blobs(std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  do {
    try {
      sweep(engine_, *options_.payloads.blobs, options_.payloads.orphan_age);
    } catch (const std::exception& error) {
      tell_trouble("looking for blobs without a task", error);
    }
    never.wait_for(lock, stop, options_.payloads.orphan_age, [] { return false; });
  } while (!stop.stop_requested());
}

void Processor::State::tell_trouble(const char* doing, const std::exception& error) {
  const auto kept_back = patient_.say(doing);
  if (kept_back)
    engine_.events().emit(StoreTrouble{doing, error.what() + kept_back_text(*kept_back)});
}

}  // namespace holdfast::http
