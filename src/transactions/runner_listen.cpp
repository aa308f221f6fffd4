#include <algorithm>

#include <fmt/format.h>

#include "recovery/time_text.hpp"
#include "transactions/runner_state.hpp"

namespace holdfast {

namespace {

/// Also how long it takes at most to notice that a transaction has listened for long enough.
constexpr Millis longest_wait{500};
constexpr Millis while_the_broker_is_away{500};
constexpr std::size_t most_unreadable = 10'000;  ///< queues of which it is remembered since when

}  // namespace

std::optional<Next> TransactionRunner::Impl::listen(const HeldPtr& held, Millis at_most) {
  auto& transaction = held->transaction;
  const auto& state = state_of(*held);
  if (!state.messages && state.signals.empty())
    return Fail{"it was to listen in state '" + transaction.state() +
                "', which has no handler for messages or signals"};
  if (held->queues.empty()) {
    auto queues = queues_of(*held);
    auto spare = state.spare_queues ? state.spare_queues(transaction) : std::vector<std::string>{};
    {
      std::lock_guard lock{mutex_};
      held->spare = {spare.begin(), spare.end()};
      for (const auto& queue : queues) by_queue_[queue] = held;
      for (const auto& queue : spare) by_queue_[queue] = held;
    }
    held->queues = queues;
    held->queues.insert(held->queues.end(), spare.begin(), spare.end());
    // An earlier version of the program may have begun it, without these.
    if (!state.signals.empty()) declare_signal_queues(*held);
    try {
      for (const auto& queue : spare) listen_to_spare(queue);
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

std::vector<std::string> TransactionRunner::Impl::queues_of(const Held& held) const {
  const auto& state = state_of(held);
  auto queues = state.queues ? state.queues(held.transaction) : std::vector<std::string>{};
  for (const auto& [name, handler] : state.signals)
    queues.push_back(signal_queue(held.transaction.id(), name));
  return queues;
}

void TransactionRunner::Impl::listen_to_spare(const std::string& queue) {
  try {
    consumer_->listen(queue);
  } catch (const QueueMissing&) {
    // It has been read empty and removed, or an operator discarded it.
  }
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
  std::set<std::string> sick;
  {
    std::lock_guard lock{mutex_};
    for (const auto& queue : queues) by_queue_.erase(queue);
    sick.swap(held.sick);
    held.inbox.clear();
    held.missing = held.wake = held.news_of_queues = false;
    held.unreadable.clear();
    held.wakes_at = {};
  }
  for (const auto& queue : queues) consumer_->ignore(queue);
  for (const auto& queue : sick) tell_of_queue(held, queue, QueueWatched::Change::left);
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
  for (const auto& [queue, why] : news.unreadable) note_unreadable(queue, why);
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
      if (at == by_queue_.end() || at->second->spare.contains(queue)) continue;
      at->second->missing = true;
      schedule(at->second);
    }
  }
  if (!nobodys.empty()) consumer_->give_back(nobodys);
}

void TransactionRunner::Impl::note_unreadable(const std::string& queue, const std::string& why) {
  HeldPtr held;
  {
    std::lock_guard lock{mutex_};
    auto at = by_queue_.find(queue);
    if (at == by_queue_.end()) return;
    held = at->second;
    why.empty() ? held->sick.erase(queue) : held->sick.insert(queue).second;
    if (!held->spare.contains(queue)) {
      if (why.empty()) {
        held->unreadable.erase(queue);
        unreadable_since_.erase(queue);
      } else {
        held->unreadable[queue] = why;
        if (unreadable_since_.size() > most_unreadable) unreadable_since_.clear();
        unreadable_since_.emplace(queue, Clock::now());
      }
      held->news_of_queues = true;
      schedule(held);
    }
  }
  const auto change =
      why.empty() ? QueueWatched::Change::readable : QueueWatched::Change::unreadable;
  tell_of_queue(*held, queue, change, why);
}

/// What the worker tells of itself, and an event.
void TransactionRunner::Impl::tell_of_queue(const Held& held, const std::string& queue,
                                            QueueWatched::Change change, const std::string& why) {
  change == QueueWatched::Change::unreadable ? sick_.add(queue, why) : sick_.remove(queue);
  engine_.events().emit(QueueWatched{held.transaction.id(), machine_.name, queue, change, why});
}

/// Where it goes because one of its queues could not be read for too long. While it may wait, it is
/// looked at again when it may not any more.
std::optional<Next> TransactionRunner::Impl::gives_up_queue(const HeldPtr& held) {
  const auto& rules = state_of(*held).rules;
  if (rules.unreadable_after == Millis{0}) return {};
  std::lock_guard lock{mutex_};
  if (held->unreadable.empty()) return {};
  const auto& [queue, why] = *held->unreadable.begin();
  auto until = unreadable_since_.emplace(queue, Clock::now()).first->second;
  until += rules.unreadable_after;
  if (Clock::now() >= until) {
    unreadable_since_.erase(queue);
    return Go{rules.on_unreadable_queue,
              fmt::format("queue '{}' could not be read for {}: {}", queue,
                          duration_text(rules.unreadable_after), why)};
  }
  held->gives_up_at = until;
  return {};
}

/// It waits for the broker, and `tx show` is to say so.
void TransactionRunner::Impl::say_what_is_unreadable(Held& held) {
  std::string what;
  {
    std::lock_guard lock{mutex_};
    if (!held.unreadable.empty())
      what = fmt::format("queue '{}' cannot be read: {}", held.unreadable.begin()->first,
                         held.unreadable.begin()->second);
  }
  if (what.empty())
    held.transaction.trouble_is_over();
  else if (held.transaction.failures() == 0)
    held.transaction.say_trouble(what);
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
  for (const auto& [queue, since] : unreadable_since_) {
    auto at = by_queue_.find(queue);
    if (at == by_queue_.end() || at->second->gives_up_at > until) continue;
    at->second->gives_up_at = Clock::time_point::max();
    at->second->news_of_queues = true;
    schedule(at->second);
  }
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
