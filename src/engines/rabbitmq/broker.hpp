#pragma once

#include <memory>

#include <holdfast/broker.hpp>

#include "engines/rabbitmq/delivery.hpp"
#include "engines/rabbitmq/ending_consumers.hpp"
#include "engines/rabbitmq/publisher.hpp"
#include "engines/rabbitmq/queue_control.hpp"

namespace holdfast::rabbitmq {

/// RabbitMQ. Connections are made when they are needed: up to four publish, up to four look after
/// queues (the last of each only those that did not answer), and every consumer has up to four, one
/// of which reads all queues that can be read; see `Entrance`.
class RabbitBroker final : public Broker, public std::enable_shared_from_this<RabbitBroker> {
 public:
  explicit RabbitBroker(Address address)
      : address_{std::move(address)}, control_{address_}, publisher_{address_} {}

  using Broker::publish;
  void declare(const std::string& queue) override;
  std::optional<std::int64_t> messages(const std::string& queue) override {
    return control_.messages(queue);
  }
  bool remove(const std::string& queue) override;
  void publish(std::span<const Message> messages) override;
  std::unique_ptr<Consumer> consume(const ConsumerOptions& options) override;
  std::string name() const override { return address_.name(); }
  std::string warning() const override;

  const Address& address() const { return address_; }
  EndingConsumers& ending_consumers() { return ending_consumers_; }
  /// Sends a copy of what was received to a queue, with other headers.
  void pass_on(RabbitDelivery& delivery, const std::string& queue, MessageHeaders headers);

 private:
  void wait_for_consumers(const std::string& queue);

  const Address address_;
  EndingConsumers ending_consumers_;
  QueueControl control_;
  Publisher publisher_;
};

}  // namespace holdfast::rabbitmq
