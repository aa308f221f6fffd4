#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "http/forget.hpp"
#include "http/phase.hpp"
#include "http/processor_state.hpp"
#include "recovery/clock.hpp"

namespace holdfast::http {

void Processor::State::put_on_desk(std::function<void()> work) {
  {
    std::lock_guard lock{mutex_};
    desk_.push_back(std::move(work));
    if (desk_.size() > 1) return;
  }
  desk_filled_.notify_one();
}

void Processor::State::work_at_desk(std::stop_token stop) {
  using Steady = std::chrono::steady_clock;
  auto sweep_at = Steady::now();
  if (!options_.payloads.blobs) sweep_at += std::chrono::years{1};
  while (true) {
    std::deque<std::function<void()>> work;
    {
      std::unique_lock lock{mutex_};
      // What is there when it is told to stop is still done.
      bool filled = desk_filled_.wait_until(lock, stop, sweep_at, [&] { return !desk_.empty(); });
      if (!filled && stop.stop_requested()) return;
      work.swap(desk_);
    }
    if (Steady::now() >= sweep_at && options_.payloads.blobs) {
      work.push_back([this] { sweep_blobs(); });
      sweep_at = Steady::now() + options_.payloads.orphan_age;
    }
    for (const auto& one : work) {
      try {
        one();
      } catch (const std::exception& error) {
        // Of one attempt, which by letting go of it is tried again.
        engine_.events().emit(StoreTrouble{"keeping the answer to a request", error.what()});
      }
    }
  }
}

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

void Processor::State::end(Held& held) {
  {
    std::lock_guard lock{held.mutex};
    held.on_stop.reset();
    --in_flight_;
  }
  if (std::holds_alternative<Response>(held.answer.what)) ++answered_;
  if (std::holds_alternative<RequestError>(held.answer.what)) ++errors_;
  conclude(held);
}

void Processor::State::conclude(Held& held) {
  held.instead ? held.attempt->end(std::move(*held.instead)) : settle(held);
}

void Processor::State::settle(Held& held) {
  auto& attempt = *held.attempt;
  AttemptFacts facts{.number = attempt.number(),
                     .max_attempts = attempt.max_attempts(),
                     .raise_error_responses = held.request.raise_error_responses.value_or(
                         options_.raise_error_responses),
                     .now = system_clock().wall()};
  auto ending = decide_ending(held.request, held.answer, facts);
  bool goes_on = std::holds_alternative<Retry>(ending.outcome) ||
                 std::holds_alternative<Snooze>(ending.outcome);
  bool known = std::holds_alternative<Response>(held.answer.what) || !held.answer.maybe_sent;
  if (held.announced && goes_on && known) may_be_sent_again(attempt);
  deliver(held, std::move(ending));
}

void Processor::State::deliver(Held& held, Ending ending) {
  auto& attempt = *held.attempt;
  if (!ending.delivery.empty()) {
    TaskOptions options;
    std::string key;
    if (options_.payloads.blobs) {
      options.id = TaskId::make();
      key = blob_key(engine_, *options.id);
    }
    if (!held.request.callback_queue.empty()) options.queue = held.request.callback_queue;
    auto payload = seal_text(std::move(ending.delivery), key, options_.payloads);
    try {
      attempt.then_json(held.request.callback, std::move(payload), options);
    } catch (const InvalidRequest& error) {
      if (ending.is_error) throw;
      // It does not fit into a payload. Then that is what the callback is told.
      auto& response = std::get<Response>(held.answer.what);
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
      held.answer.what = std::move(too_large);
      return settle(held);
    }
  }
  bool completes = std::holds_alternative<Done>(ending.outcome);
  if (completes && !held.blob.empty()) forget_when_done(attempt, held.blob);
  attempt.end(std::move(ending.outcome));
}

void Processor::State::sweep_blobs() {
  sweep(engine_, *options_.payloads.blobs, options_.payloads.orphan_age);
}

}  // namespace holdfast::http
