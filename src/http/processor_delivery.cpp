#include <algorithm>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "http/blob_trouble.hpp"
#include "http/forget.hpp"
#include "http/processor_state.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::http {

namespace {

constexpr Millis first_pause{250}, longest_pause{10'000};

std::string callback_queue(const Request& request) {
  return request.callback_queue.empty() ? TaskOptions{}.queue : request.callback_queue;
}

}  // namespace

void Processor::State::deliver(const HeldPtr& held, Ending ending) {
  auto& attempt = *held->attempt;
  try {
    seal(*held, ending);
    // Behind everything that is tried again: it would be added a second time.
    if (!ending.delivery.empty()) {
      TaskOptions options{.id = held->delivered_as};
      options.queue = callback_queue(held->request);
      then_own(attempt, {held->request.callback, std::move(ending.delivery), std::move(options)});
    }
  } catch (const BlobError& error) {
    if (is_passing(error)) return wait_for_blobs(held, std::move(ending), error);
    return cannot_keep(held, error.what());
  } catch (const StoreError& error) {
    return wait_for_blobs(held, std::move(ending), error);  // it knows what blobs are called
  } catch (const std::exception& error) {
    return cannot_keep(held, error.what());
  }
  const bool completes = std::holds_alternative<Done>(ending.outcome);
  if (completes && !held->blob.empty()) forget_when_done(attempt, held->blob);
  attempt.end(std::move(ending.outcome));
}

void Processor::State::seal(Held& held, Ending& ending) {
  const auto& payloads = options_.payloads;
  auto* done = std::get_if<Done>(&ending.outcome);
  if (!ending.delivery.empty()) {
    const bool may_be_sealed = payloads.blobs || !payloads.keyring.current.empty();
    if (may_be_sealed && !held.delivered_as) held.delivered_as = TaskId::make();
    if (payloads.blobs && held.delivered_in.empty())
      held.delivered_in = blob_key(engine_, *held.delivered_as);
    const SealedFor owner{held.delivered_as.value_or(TaskId{}), held.request.callback,
                          callback_queue(held.request)};
    ending.delivery = seal_text(std::move(ending.delivery), owner, held.delivered_in, payloads);
  } else if (done && held.request.callback.empty()) {
    if (payloads.blobs && held.delivered_in.empty())
      held.delivered_in = result_key(engine_, held.attempt->task());
    auto owner = owner_of(*held.attempt);
    owner.part = SealedFor::Part::result;
    auto text = seal_text(std::move(done->text), owner, held.delivered_in, payloads);
    done->text = is_sealed(text) ? sealed_result(std::get<Response>(held.answer.what), text)
                                 : std::move(text);
  }
}

void Processor::State::cannot_keep(const HeldPtr& held, const std::string& why) {
  const auto* response = std::get_if<Response>(&held->answer.what);
  if (!response)
    return held->attempt->end(fail(fmt::format("what became of it cannot be kept: {}", why)));
  RequestError too_large{
      .type = ErrorType::response_too_large,
      .message = fmt::format("the answer cannot be kept: {}{}", why,
                             options_.payloads.blobs ? "" : "; with a store of blobs it could"),
      .duration = response->duration,
      .request_id = response->request_id,
      .url = response->url,
      .method = response->method,
      .redirects = response->redirects,
      .context = response->context};
  held->answer.what = std::move(too_large);
  held->delivered_as.reset();
  held->delivered_in.clear();
  settle(held);
}

void Processor::State::wait_for_blobs(const HeldPtr& held, Ending ending, const Error& error) {
  auto& attempt = *held->attempt;
  tell_trouble("keeping the answer to a request in a blob", error);
  if (held->pause == Millis{0}) {
    attempt.outlast_timeout();
    attempt.log(fmt::format("It is answered, and the answer waits for blobs: {}", error.what()));
  }
  held->pause = std::clamp(2 * held->pause, first_pause, longest_pause);
  {
    std::lock_guard lock{held->mutex};
    held->undelivered = std::move(ending);
    held->why_undelivered = error.what();
    held->on_stop.emplace(attempt.stop_token(), [this, weak = std::weak_ptr{held}] {
      // Writers may all be busy with blobs that do not answer.
      if (auto still = weak.lock()) desk_.put([this, still] { deliver_again(still); });
    });
  }
  pauses_.put(held->pause, [this, held] { writers_.put([this, held] { deliver_again(held); }); });
}

void Processor::State::deliver_again(const HeldPtr& held) {
  std::optional<Ending> ending;
  {
    std::lock_guard lock{held->mutex};
    ending = std::exchange(held->undelivered, {});
  }
  if (!ending) return;  // somebody else was called first
  // It is not said of one that must not be sent twice that it was not sent.
  if (held->attempt->stop_requested())
    return held->attempt->end(retry(fmt::format(
        "it was broken off while its answer waited for blobs: {}", held->why_undelivered)));
  deliver(held, std::move(*ending));
}

}  // namespace holdfast::http
