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
  /// How many messages wait; nothing: there is no such queue.
  std::optional<std::int64_t> messages(const std::string& queue);
  /// How many there are, of everybody.
  std::int64_t consumers(const std::string& queue);
  bool remove(const std::string& queue);

 private:
  struct Found {
    std::int64_t messages = 0;
    std::int64_t consumers = 0;
  };

  std::optional<Found> look(const std::string& queue);
  static std::optional<Found> look(Connection& connection, const std::string& queue);
  void make(Connection& connection, const std::string& queue);

  const Address& address_;
  Lines lines_;
  std::atomic<bool> has_dead_letters_ = false;
};

}  // namespace holdfast::rabbitmq
