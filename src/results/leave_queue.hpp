#pragma once

#include <functional>
#include <optional>

#include <holdfast/broker.hpp>

namespace holdfast::results {

/// Why a message that is left in a queue becomes a dead letter; nothing: it is a copy of what is
/// there already.
using WhyLeft = std::function<std::optional<std::string>(Delivery&)>;

/// There are messages in a queue, and they cannot be read now.
class QueueUnreadable : public BrokerError {
  using BrokerError::BrokerError;
};

/// Removes a queue when every message in it is a dead letter, or known to be a copy: a message that
/// was confirmed to its producer never just disappears. `hurried` trusts the broker's count of
/// none; else it is listened to for a moment, in which what others gave back comes. False: there is
/// more in it than is moved in one go; call it again. Throws `QueueUnreadable` while it cannot be
/// read.
///
/// A message that arrives between the last look and the removal goes with the queue; brokers cannot
/// do both in one step.
bool leave_queue(Broker& broker, const std::string& queue, const WhyLeft& why, bool hurried);

}  // namespace holdfast::results
