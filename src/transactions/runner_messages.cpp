#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "recovery/kill_point.hpp"
#include "transactions/runner_state.hpp"
#include "transactions/signals.hpp"

namespace holdfast {

/// A message that comes for the first time cannot have failed before. One that may have is handed
/// over alone, so that what happens is known to be about it.
bool TransactionRunner::Impl::may_have_failed(const Held& held, const Delivery& delivery) {
  return delivery.deliveries() > 1 || held.transaction.failures() > 0;
}

std::size_t TransactionRunner::Impl::group_size(const Held& held,
                                                const std::vector<DeliveryPtr>& deliveries) const {
  auto comes_alone = [&](const DeliveryPtr& delivery) {
    std::string name;
    return may_have_failed(held, *delivery) ||
           signal_handler_of(state_of(held), held.transaction.id(), delivery->queue(), name);
  };
  const auto first = std::ranges::find_if(deliveries, comes_alone) - deliveries.begin();
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(first, 1));
}

std::vector<DeliveryPtr> TransactionRunner::Impl::first_group(Held& held,
                                                              std::vector<DeliveryPtr> deliveries) {
  const auto end = deliveries.begin() + static_cast<std::ptrdiff_t>(group_size(held, deliveries));
  std::lock_guard lock{mutex_};
  held.inbox.insert(held.inbox.begin(), std::make_move_iterator(end),
                    std::make_move_iterator(deliveries.end()));
  deliveries.erase(end, deliveries.end());
  return deliveries;
}

Next TransactionRunner::Impl::hand_over(Held& held, std::vector<DeliveryPtr> deliveries) {
  auto group = first_group(held, std::move(deliveries));
  if (!may_have_failed(held, *group.front())) return hand_over_group(held, group);
  auto line = attempts_line_of(*group.front());
  auto before = held.transaction.attempts(line);
  if (before.begun_at >= 0 && held.crashes > before.begun_at) ++before.deaths;
  before.begun_at = -1;
  if (auto why = failed_too_often(before); !why.empty()) {
    bury(held, group.front(), why);
    held.transaction.write_attempts(line, {});  // the same may come again, and be good
    return enter(held);
  }
  held.transaction.write_attempts(line, {before.deaths, before.failures, held.crashes});
  try {
    auto next = hand_over_group(held, group);
    bool failed = std::holds_alternative<Retry>(next);
    held.transaction.note_attempts(
        line, failed ? MessageAttempts{before.deaths, before.failures + 1} : MessageAttempts{});
    return next;
  } catch (const std::exception&) {
    // Something that the handler needs is away, which is not the fault of the message.
    held.transaction.take_back_attempt(line, before);
    throw;
  }
}

std::string TransactionRunner::Impl::failed_too_often(const MessageAttempts& attempts) const {
  if (attempts.failures >= options_.message_failures)
    return fmt::format("its handler failed {} times", attempts.failures);
  if (attempts.deaths >= options_.message_deaths)
    return fmt::format("the process crashed {} times while it was handled", attempts.deaths);
  return {};
}

void TransactionRunner::Impl::bury(const Held& held, const DeliveryPtr& delivery,
                                   const std::string& why) {
  consumer_->reject(delivery, why);
  engine_.events().emit(MessageRejected{held.transaction.id(), machine_.name, delivery->queue(),
                                        delivery->id(), why});
}

Next TransactionRunner::Impl::hand_over_group(Held& held, const std::vector<DeliveryPtr>& group) {
  std::vector<Incoming> incoming;
  for (const auto& delivery : group) incoming.emplace_back(delivery);
  auto next = call(held, [&] {
    if (auto signalled = take_signal(held, group.front())) return *signalled;
    return state_of(held).messages(held.transaction, std::span{incoming});
  });
  if (std::holds_alternative<Retry>(next)) return next;  // they come again
  // What the messages led to is durable before they are gone.
  auto* go = std::get_if<Go>(&next);
  if (go && !machine_.states.contains(go->state))
    return Fail{fmt::format("it was to go to state '{}', which does not exist", go->state)};
  const bool first_sent = state_of(held).rules.leave_when_sent;
  if (go && !first_sent) {
    record_move(held, *go);
  } else {
    held.transaction.settle_down();
    say_what_is_unreadable(held);
  }
  kill_point(KillPoint::message_before_acknowledge);
  std::vector<DeliveryPtr> good;
  for (const auto& one : incoming) {
    if (one.rejected().empty())
      good.push_back(one.pointer());
    else
      bury(held, one.pointer(), one.rejected());
  }
  consumer_->acknowledge(good);
  kill_point(KillPoint::message_after_acknowledge);
  if (!go || first_sent) return next;
  stop_listening(held);
  if (auto late = flush(held)) return *late;
  return enter(held);
}

}  // namespace holdfast
