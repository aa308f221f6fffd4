#include "engines/rabbitmq/broker.hpp"

#include "engines/rabbitmq/consumer.hpp"
#include "engines/rabbitmq/open.hpp"
#include "tasks/clear_text.hpp"
#include "tasks/names.hpp"

namespace holdfast::rabbitmq {

void RabbitBroker::declare(const std::string& queue) {
  check_name("queue name", queue, longest_name);
  control_.declare(queue);
}

void RabbitBroker::publish(std::span<const Message> messages) {
  std::vector<Letter> letters;
  for (const auto& message : messages)
    letters.push_back({.queue = message.queue,
                       .id = message.id,
                       .headers = message.headers,
                       .size = message.body.size(),
                       .read = [&message](std::uint64_t offset, std::span<char> into) {
                         return message.body.copy(into.data(), into.size(), offset);
                       }});
  publisher_.publish(letters);
}

void RabbitBroker::pass_on(RabbitDelivery& delivery, const std::string& queue,
                           MessageHeaders headers) {
  Letter letter{.queue = queue,
                .id = delivery.id(),
                .headers = std::move(headers),
                .size = delivery.size(),
                .read = [&delivery](std::uint64_t offset, std::span<char> into) {
                  return delivery.read(offset, into);
                }};
  publisher_.publish(std::span{&letter, 1});
}

std::unique_ptr<Consumer> RabbitBroker::consume(const ConsumerOptions& options) {
  return std::make_unique<RabbitConsumer>(shared_from_this(), options);
}

bool is_address(std::string_view text) {
  return text.starts_with("amqp:") || text.starts_with("amqps:");
}

/// By the name alone: nothing is connected yet.
std::string RabbitBroker::warning() const {
  const auto& host = address_.host;
  if (address_.tls || host == "localhost" || host == "::1" || host.starts_with("127.")) return {};
  return clear_text_warning(address_.name(), "use amqps:// in its address");
}

std::shared_ptr<Broker> open_broker(std::string_view address) {
  return std::make_shared<RabbitBroker>(Address::parse(address));
}

}  // namespace holdfast::rabbitmq
