#pragma once

#include <atomic>

#include "engines/rabbitmq/line.hpp"

namespace holdfast::rabbitmq {

/// Makes, removes and looks at queues. It has connections of its own, because the broker does not
/// read from those that publish while its disk or memory is full.
class QueueControl {
 public:
  explicit QueueControl(const Address& address)
      : address_{address}, lines_{address_, "holdfast queues"} {}

  /// A queue that is there already is taken as it is, whoever made it.
  void declare(const std::string& queue);
  /// How many messages wait; nothing: there is no such queue. Throws where that cannot be known.
  std::optional<std::int64_t> messages(const std::string& queue);
  /// How many there are, of everybody.
  std::int64_t consumers(const std::string& queue);
  /// Throws for a queue that is down, which may have messages.
  bool remove(const std::string& queue);

 private:
  struct Found {
    std::int64_t messages = 0;
    std::int64_t consumers = 0;
  };

  static std::optional<Found> look(Connection& connection, const std::string& queue);
  /// A queue that is down looks like one that is empty and that no one reads, so such a one is
  /// asked for a message. Throws where it does not answer.
  static std::optional<std::int64_t> count(Connection& connection, const std::string& queue);
  void make(Connection& connection, const std::string& queue);

  const Address& address_;
  Lines lines_;
  std::atomic<bool> has_dead_letters_ = false;
};

}  // namespace holdfast::rabbitmq
