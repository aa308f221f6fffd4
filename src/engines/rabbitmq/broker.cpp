#include "engines/rabbitmq/broker.hpp"

#include <fmt/format.h>

#include "engines/rabbitmq/consumer.hpp"
#include "engines/rabbitmq/open.hpp"
#include "tasks/clear_text.hpp"
#include "tasks/names.hpp"

namespace holdfast::rabbitmq {

namespace {

/// The server ends a consumer when it has dealt with what came before on its channel.
constexpr Millis longest_ending{2'000}, between_looks{5};

}  // namespace

void RabbitBroker::declare(const std::string& queue) {
  check_name("queue name", queue, longest_name);
  control_.declare(queue);
}

bool RabbitBroker::remove(const std::string& queue) {
  wait_for_consumers(queue);
  return control_.remove(queue);
}

// The answer to a cancelled consumer may be behind messages that were not taken yet, so the queue
// is asked as well.
void RabbitBroker::wait_for_consumers(const std::string& queue) {
  const auto until = std::chrono::steady_clock::now() + longest_ending;
  for (Millis pause{0}; !ending_consumers_.wait_for(queue, pause); pause = between_looks) {
    if (control_.consumers(queue) == 0) return;
    if (std::chrono::steady_clock::now() >= until)
      throw BrokerError{
          fmt::format("queue '{}' is not removed yet: a consumer of it has not ended", queue)};
  }
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
