#include <algorithm>

#include "transactions/runner_state.hpp"

namespace holdfast {

namespace {

/// Also how long it takes at most to notice that a transaction has listened for long enough.
constexpr Millis longest_wait{500};
constexpr Millis while_the_broker_is_away{500};

}  // namespace

std::optional<Next> TransactionRunner::Impl::listen(const HeldPtr& held, Millis at_most) {
  auto& transaction = held->transaction;
  const auto& state = state_of(*held);
  if (!state.messages)
    return Fail{"it was to listen in state '" + transaction.state() +
                "', which has no handler for "
                "messages"};
  if (held->queues.empty()) {
    auto queues = state.queues(transaction);
    {
      std::lock_guard lock{mutex_};
      for (const auto& queue : queues) by_queue_[queue] = held;
    }
    held->queues = queues;
    try {
      for (const auto& queue : queues) consumer_->listen(queue);
    } catch (const QueueMissing& error) {
      stop_listening(*held);
      if (state.rules.on_missing_queue.empty()) return retry(error.what());
      return Go{state.rules.on_missing_queue, error.what()};
    }
  }
  auto wakes_at =
      Clock::now() + std::min({at_most, time_left(*held), Millis{std::chrono::hours{24}}});
  std::lock_guard lock{mutex_};
  held->wakes_at = wakes_at;
  mind(held);
  return {};
}

/// One entry in the list is enough, however often it listens anew: it is looked at when that is
/// due, and then put off if need be.
void TransactionRunner::Impl::mind(const HeldPtr& held) {
  bool is_minded = held->looked_at_at != Clock::time_point{};
  if (is_minded && held->looked_at_at <= held->wakes_at) return;
  held->looked_at_at = held->wakes_at;
  wakes_.emplace(held->wakes_at, held);
}

void TransactionRunner::Impl::stop_listening(Held& held) {
  auto queues = std::exchange(held.queues, {});
  if (queues.empty()) return;
  {
    std::lock_guard lock{mutex_};
    for (const auto& queue : queues) by_queue_.erase(queue);
    held.inbox.clear();
    held.missing = held.wake = false;
    held.wakes_at = {};
  }
  for (const auto& queue : queues) consumer_->ignore(queue);
}

void TransactionRunner::Impl::hear(std::stop_token stop) {
  while (!stop.stop_requested()) {
    try {
      distribute(consumer_->receive(until_next_wake()));
    } catch (const std::exception& error) {
      trouble("receiving messages", error);
      std::unique_lock lock{mutex_};
      std::condition_variable_any pause;
      pause.wait_for(lock, stop, while_the_broker_is_away, [] { return false; });
    }
    wake_those_due();
  }
}

void TransactionRunner::Impl::distribute(Consumer::News news) {
  std::vector<DeliveryPtr> nobodys;
  {
    std::lock_guard lock{mutex_};
    for (auto& delivery : news.deliveries) {
      auto at = by_queue_.find(delivery->queue());
      if (at == by_queue_.end()) {
        nobodys.push_back(std::move(delivery));
        continue;
      }
      at->second->inbox.push_back(std::move(delivery));
      schedule(at->second);
    }
    for (const auto& queue : news.missing) {
      auto at = by_queue_.find(queue);
      if (at == by_queue_.end()) continue;
      at->second->missing = true;
      schedule(at->second);
    }
  }
  if (!nobodys.empty()) consumer_->give_back(nobodys);
}

Millis TransactionRunner::Impl::until_next_wake() {
  std::lock_guard lock{mutex_};
  if (wakes_.empty()) return longest_wait;
  auto left = std::chrono::ceil<Millis>(wakes_.begin()->first - Clock::now());
  return std::clamp(left, Millis{0}, longest_wait);
}

void TransactionRunner::Impl::wake_those_due() {
  std::lock_guard lock{mutex_};
  auto until = Clock::now();
  while (!wakes_.empty() && wakes_.begin()->first <= until) {
    auto [at, weak] = *wakes_.begin();
    wakes_.erase(wakes_.begin());
    auto held = weak.lock();
    if (!held || held->looked_at_at != at) continue;
    held->looked_at_at = {};
    if (held->wakes_at == Clock::time_point{}) continue;
    if (held->wakes_at > until) {
      mind(held);
      continue;
    }
    held->wake = true;
    schedule(held);
  }
}

}  // namespace holdfast
