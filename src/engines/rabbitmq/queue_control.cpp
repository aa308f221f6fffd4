#include "engines/rabbitmq/queue_control.hpp"

#include <vector>

#include "engines/rabbitmq/table.hpp"

namespace holdfast::rabbitmq {

namespace {

/// Dead letters are passed on until their queue has them, which needs a queue that refuses new
/// messages when it is full instead of dropping old ones.
///
/// The limit of deliveries is one that is never reached: a delivery that ended with its connection
/// is not the fault of the message. Without any, RabbitMQ 4 takes 20, and older versions put what
/// is given back behind everything else.
std::vector<amqp_table_entry_t> quorum_arguments(const std::string& queue, int delivery_limit) {
  std::vector<amqp_table_entry_t> arguments{
      text_entry("x-queue-type", "quorum"),
      number_entry("x-delivery-limit", delivery_limit),
  };
  // Where dead letters end, they are not passed on.
  if (queue == dead_letter_queue) return arguments;
  arguments.push_back(text_entry("x-dead-letter-exchange", ""));
  arguments.push_back(text_entry("x-dead-letter-routing-key", dead_letter_queue));
  arguments.push_back(text_entry("x-dead-letter-strategy", "at-least-once"));
  arguments.push_back(text_entry("x-overflow", "reject-publish"));
  return arguments;
}

}  // namespace

std::optional<QueueControl::Found> QueueControl::look(Connection& connection,
                                                      const std::string& queue) {
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
  return Found{.messages = found->message_count, .consumers = found->consumer_count};
}

void QueueControl::make(Connection& connection, const std::string& queue) {
  auto arguments = quorum_arguments(queue, address_.delivery_limit);
  amqp_table_t table{address_.quorum ? static_cast<int>(arguments.size()) : 0, arguments.data()};
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
  lines_.with(queue, [&](Connection& connection) {
    // There before anything could be passed on to it.
    if (address_.quorum && !has_dead_letters_) make(connection, dead_letter_queue);
    has_dead_letters_ = true;
    make(connection, queue);
  });
}

std::optional<std::int64_t> QueueControl::messages(const std::string& queue) {
  const auto found = look(queue);
  return found ? std::optional{found->messages} : std::nullopt;
}

std::int64_t QueueControl::consumers(const std::string& queue) {
  const auto found = look(queue);
  return found ? found->consumers : 0;
}

std::optional<QueueControl::Found> QueueControl::look(const std::string& queue) {
  return lines_.with(queue, [&](Connection& connection) { return look(connection, queue); });
}

bool QueueControl::remove(const std::string& queue) {
  return lines_.with(queue, [&](Connection& connection) {
    if (!look(connection, queue)) return false;
    ::amqp_queue_delete(connection.state(), Connection::channel, bytes_of(queue), 0, 0);
    connection.check();
    return true;
  });
}

}  // namespace holdfast::rabbitmq
