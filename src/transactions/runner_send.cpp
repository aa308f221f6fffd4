#include <algorithm>

#include <fmt/format.h>

#include "recovery/time_text.hpp"
#include "transactions/runner_state.hpp"

namespace holdfast {

namespace {

constexpr Millis shortest_pause{1'000};
/// A queue that does not exist is asked for ever more seldom.
constexpr Millis longest_pause{60'000};
/// So many transactions' missing queues are remembered; more begin again with a short pause.
constexpr std::size_t most_missed = 100'000;

}  // namespace

std::optional<Next> TransactionRunner::Impl::flush(Held& held, TakeOut when) {
  auto& transaction = held.transaction;
  std::optional<Next> late;
  std::string trouble;
  try {
    send_outbox(held, when);
    std::lock_guard lock{mutex_};
    queue_missed_.erase(transaction.attempt().task());
    return {};
  } catch (const QueueMissing& error) {
    late = overdue(held);
    if (!late) late = unsent_for_too_long(held);
    if (!late) throw;
    trouble = error.what();
  } catch (const BrokerError& error) {
    late = overdue(held);
    if (!late) throw;
    trouble = error.what();
  }
  auto lost = fmt::format("; messages that could not be sent: {} ({})",
                          transaction.abandon_outbox(), trouble);
  if (auto* go = std::get_if<Go>(&*late)) {
    // What brought it here is why it is here, also if it comes here again.
    if (go->state == transaction.state() && !transaction.reason().empty())
      go->reason = transaction.reason();
    go->reason += lost;
  }
  if (auto* fails = std::get_if<Fail>(&*late)) fails->reason += lost;
  return late;
}

void TransactionRunner::Impl::send_outbox(Held& held, TakeOut when) {
  auto* broker = options_.broker.get();
  try {
    held.transaction.send_outbox(broker, when);
  } catch (const QueueMissing&) {
    if (!brought_back_queues(held)) throw;
    held.transaction.send_outbox(broker, when);
  }
}

bool TransactionRunner::Impl::brought_back_queues(const Held& held) {
  bool any = false;
  for (const auto& queue : machine_.kept_queues) {
    if (options_.broker->exists(queue)) continue;
    options_.broker->declare(queue);
    any = true;
    engine_.events().emit(TransactionNoted{
        held.transaction.id(), machine_.name,
        fmt::format("queue '{}' was gone, with what was in it, and has been declared again", queue),
        true});
  }
  return any;
}

std::optional<Next> TransactionRunner::Impl::unsent_for_too_long(const Held& held) const {
  const auto limit = machine_.send_timeout;
  if (limit == Millis{0} || now() < held.transaction.entered_at() + limit) return {};
  auto why = fmt::format("sending its messages took longer than {}", duration_text(limit));
  if (machine_.on_send_timeout.empty()) return Fail{why};
  return Go{machine_.on_send_timeout, why};
}

Millis TransactionRunner::Impl::until_the_queue_is_there(const Held& held) {
  std::lock_guard lock{mutex_};
  if (queue_missed_.size() > most_missed) queue_missed_.clear();
  int& missed = queue_missed_[held.transaction.attempt().task()];
  auto delay = std::min(shortest_pause * (1 << std::min(missed++, 10)), longest_pause);
  if (!held.transaction.has_row() || !machine_.states.contains(held.transaction.state()))
    return delay;
  if (machine_.send_timeout > Millis{0}) {
    auto left = held.transaction.entered_at() + machine_.send_timeout - now();
    delay = std::min(delay, std::max(left, Millis{0}));
  }
  return std::min(delay, time_left(held));
}

}  // namespace holdfast
