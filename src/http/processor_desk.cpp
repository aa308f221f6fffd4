#include <fmt/format.h>
#include <holdfast/error.hpp>

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

void Processor::State::deliver(const HeldPtr& held, Ending ending) {
  auto& attempt = *held->attempt;
  if (!ending.delivery.empty()) {
    TaskOptions options;
    std::string key;
    if (options_.payloads.blobs) {
      options.id = TaskId::make();
      key = blob_key(engine_, *options.id);
    }
    if (!held->request.callback_queue.empty()) options.queue = held->request.callback_queue;
    auto payload = seal_text(std::move(ending.delivery), key, options_.payloads);
    try {
      attempt.then_json(held->request.callback, std::move(payload), options);
    } catch (const InvalidRequest& error) {
      if (ending.is_error) throw;
      // It does not fit into a payload. Then that is what the callback is told.
      auto& response = std::get<Response>(held->answer.what);
      RequestError too_large{.type = ErrorType::response_too_large,
                             .message = fmt::format("the answer cannot be kept: {}; with a store "
                                                    "of blobs it could",
                                                    error.what()),
                             .duration = response.duration,
                             .request_id = response.request_id,
                             .url = response.url,
                             .method = response.method,
                             .redirects = response.redirects,
                             .context = response.context};
      held->answer.what = std::move(too_large);
      return settle(held);
    }
  }
  auto* completes = std::get_if<Done>(&ending.outcome);
  if (completes && held->request.callback.empty()) seal_result(*held, *completes);
  if (completes && !held->blob.empty()) forget_when_done(attempt, held->blob);
  attempt.end(std::move(ending.outcome));
}

void Processor::State::seal_result(Held& held, Done& done) {
  const auto& payloads = options_.payloads;
  auto key = payloads.blobs ? result_key(engine_, held.attempt->task()) : "";
  auto text = seal_text(std::move(done.text), key, payloads);
  done.text =
      is_sealed(text) ? sealed_result(std::get<Response>(held.answer.what), text) : std::move(text);
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

void Processor::State::tell_trouble(const char* doing, const std::exception& error) const {
  engine_.events().emit(StoreTrouble{doing, error.what()});
}

}  // namespace holdfast::http
