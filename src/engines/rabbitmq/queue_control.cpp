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

/// Lets a message pass that was asked for.
void skip_message(Connection& connection) {
  constexpr std::chrono::seconds longest_gap{5};
  std::optional<std::uint64_t> left;
  while (left != 0u) {
    const auto frame = connection.read(longest_gap);
    if (!frame) throw Disconnected{"the broker sent half of a message"};
    connection.check_close(*frame);
    if (frame->frame_type == AMQP_FRAME_HEADER)
      left = frame->payload.properties.body_size;
    else if (frame->frame_type == AMQP_FRAME_BODY && left)
      *left -= frame->payload.body_fragment.len;
  }
}

/// Whether there is a message, which is given back. Throws where the queue cannot be read.
bool has_message(Connection& connection, const std::string& queue) {
  const auto reply = ::amqp_basic_get(connection.state(), Connection::channel, bytes_of(queue), 0);
  connection.check();
  if (reply.reply.id != AMQP_BASIC_GET_OK_METHOD) return false;
  const auto tag = static_cast<const amqp_basic_get_ok_t*>(reply.reply.decoded)->delivery_tag;
  skip_message(connection);
  constexpr amqp_boolean_t requeue = 1;
  amqp_basic_nack_t back{tag, 0, requeue};
  connection.send(AMQP_BASIC_NACK_METHOD, &back);
  return true;
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

std::optional<std::int64_t> QueueControl::count(Connection& connection, const std::string& queue) {
  const auto found = look(connection, queue);
  if (!found) return {};
  if (found->messages > 0 || found->consumers > 0) return found->messages;
  try {
    return has_message(connection, queue);
  } catch (const Refused& refused) {
    connection.ensure_channel();
    if (refused.no_such_queue()) return {};
    if (refused.code() == AMQP_NOT_FOUND) throw;
    return 0;  // we may not read it; but it answered
  }
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
  return lines_.with(queue, [&](Connection& connection) { return count(connection, queue); });
}

std::int64_t QueueControl::consumers(const std::string& queue) {
  return lines_.with(queue, [&](Connection& connection) {
    const auto found = look(connection, queue);
    return found ? found->consumers : 0;
  });
}

bool QueueControl::remove(const std::string& queue) {
  return lines_.with(queue, [&](Connection& connection) {
    if (!count(connection, queue)) return false;
    ::amqp_queue_delete(connection.state(), Connection::channel, bytes_of(queue), 0, 0);
    connection.check();
    return true;
  });
}

}  // namespace holdfast::rabbitmq
