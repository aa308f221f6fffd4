#include "transactions/runner_state.hpp"
#include "transactions/signals.hpp"

namespace holdfast {

/// Before it is known to have begun, so that a signal to one that has begun finds its queue.
void TransactionRunner::Impl::declare_signal_queues(const Held& held) {
  for (const auto& name : signal_names_)
    options_.broker->declare(signal_queue(held.transaction.id(), name));
}

/// What is still in them was sent too late.
void TransactionRunner::Impl::remove_signal_queues(Held& held) {
  if (!takes_signals()) return;
  stop_listening(held);
  try {
    for (const auto& name : signal_names_)
      options_.broker->remove(signal_queue(held.transaction.id(), name));
  } catch (const BrokerError& error) {
    trouble("removing the queues of signals", error);  // it has ended all the same
  }
}

std::optional<Next> TransactionRunner::Impl::take_signal(Held& held, const DeliveryPtr& delivery) {
  std::string name;
  const auto* handler =
      signal_handler_of(state_of(held), held.transaction.id(), delivery->queue(), name);
  if (!handler) return {};
  return (*handler)(held.transaction, Signal{name, delivery->body()});
}

}  // namespace holdfast
