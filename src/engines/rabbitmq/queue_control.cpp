#include "engines/rabbitmq/queue_control.hpp"

#include <array>

#include "engines/rabbitmq/table.hpp"

namespace holdfast::rabbitmq {

namespace {

/// Dead letters are passed on until their queue has them, which needs a queue that refuses new
/// messages when it is full instead of dropping old ones.
auto quorum_arguments(const Address& address) {
  std::array arguments{
      text_entry("x-queue-type", "quorum"),
      number_entry("x-delivery-limit", address.delivery_limit),
      text_entry("x-dead-letter-exchange", ""),
      text_entry("x-dead-letter-routing-key", dead_letter_queue),
      text_entry("x-dead-letter-strategy", "at-least-once"),
      text_entry("x-overflow", "reject-publish"),
  };
  return arguments;
}

}  // namespace

std::optional<std::int64_t> QueueControl::look(Connection& connection, const std::string& queue) {
  constexpr amqp_boolean_t passive = 1;
  const auto* found = ::amqp_queue_declare(connection.state(), Connection::channel, bytes_of(queue),
                                           passive, 0, 0, 0, amqp_empty_table);
  try {
    connection.check();
  } catch (const Refused& refused) {
    if (!refused.no_such_queue()) throw;
    connection.ensure_channel();
    return {};
  }
  return found->message_count;
}

void QueueControl::make(Connection& connection, const std::string& queue) {
  auto arguments = quorum_arguments(address_);
  // Where dead letters end, they do not go round.
  auto count = queue == dead_letter_queue ? 1 : static_cast<int>(arguments.size());
  amqp_table_t table{address_.quorum ? count : 0, arguments.data()};
  constexpr amqp_boolean_t durable = 1;
  ::amqp_queue_declare(connection.state(), Connection::channel, bytes_of(queue), 0, durable, 0, 0,
                       table);
  try {
    connection.check();
  } catch (const Refused& refused) {
    // Somebody made it in another way, so it is there.
    if (refused.code() != AMQP_PRECONDITION_FAILED) throw;
    connection.ensure_channel();
  }
}

void QueueControl::declare(const std::string& queue) {
  line_.with([&](Connection& connection) {
    // There before anything could be passed on to it.
    if (address_.quorum && !has_dead_letters_) make(connection, dead_letter_queue);
    has_dead_letters_ = true;
    make(connection, queue);
  });
}

std::optional<std::int64_t> QueueControl::messages(const std::string& queue) {
  return line_.with([&](Connection& connection) { return look(connection, queue); });
}

bool QueueControl::remove(const std::string& queue) {
  return line_.with([&](Connection& connection) {
    if (!look(connection, queue)) return false;
    ::amqp_queue_delete(connection.state(), Connection::channel, bytes_of(queue), 0, 0);
    connection.check();
    return true;
  });
}

}  // namespace holdfast::rabbitmq
