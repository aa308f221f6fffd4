#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/engine.hpp>
#include <holdfast/error.hpp>
#include <holdfast/settings.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

/// The broker could not be reached or would not do it. Nothing is lost; try again later.
class BrokerError : public Error {
  using Error::Error;
};

/// The queue is not there (any more). What was in it is gone, and waiting for it is pointless.
class QueueMissing : public BrokerError {
  using BrokerError::BrokerError;
};

using MessageHeaders = std::map<std::string, std::string>;

struct Message {
  std::string queue;
  std::string body;
  /// The same for every copy of a message that had to be sent again: receivers know it by this.
  std::string id{};
  MessageHeaders headers{};
};

/// A message in our hands. It stays in its queue until it is acknowledged, and comes again, here or
/// elsewhere, if it never is.
class Delivery {
 public:
  virtual ~Delivery() = default;
  virtual const std::string& queue() const = 0;
  virtual const std::string& id() const = 0;
  virtual const MessageHeaders& headers() const = 0;
  virtual std::uint64_t size() const = 0;
  /// How often it was delivered, this time included; at least so many.
  virtual int deliveries() const = 0;
  /// Reads bytes of the body from `offset`; returns how many, fewer only at its end. Large bodies
  /// are in a file, not in memory.
  virtual std::size_t read(std::uint64_t offset, std::span<char> into) = 0;
  /// The whole body, where it is known to be small.
  std::string body();
};
using DeliveryPtr = std::shared_ptr<Delivery>;

struct ConsumerOptions {
  /// Messages that were delivered and are not acknowledged have at most so many bytes together;
  /// one that is larger comes alone.
  std::uint64_t prefetch_bytes = 32u << 20;
  int prefetch = 256;  ///< and there are at most so many
};

/// Takes messages from queues. Safe to use from many threads; letting go of it gives back what was
/// not acknowledged.
class Consumer {
 public:
  virtual ~Consumer() = default;

  /// From now on, messages of this queue are delivered. A queue that does not exist: throws
  /// `QueueMissing`, or `receive` names it.
  virtual void listen(const std::string& queue) = 0;
  /// No more of them; what was delivered and not acknowledged goes back into the queue.
  virtual void ignore(const std::string& queue) = 0;

  /// A queue that cannot be read, which does not delay the others; or can be read again.
  struct Unreadable {
    std::string queue;
    std::string why;  ///< in the broker's words; empty: it can be read again
  };
  struct News {
    std::vector<DeliveryPtr> deliveries{};
    std::vector<std::string> missing{};    ///< queues that were listened to and are gone; told once
    std::vector<Unreadable> unreadable{};  ///< told when it begins, changes and ends
  };
  /// Waits for messages, for `timeout` at most.
  virtual News receive(Millis timeout) = 0;
  /// Ends a `receive` that waits, or the next one.
  virtual void interrupt() = 0;

  /// They were dealt with and do not come again, unless the broker or the way to it fails at this
  /// very moment. A message that went to somebody else in the meantime is left alone.
  virtual void acknowledge(std::span<const DeliveryPtr> deliveries) = 0;
  /// It cannot be dealt with: goes into the queue of dead letters, with the reason.
  virtual void reject(const DeliveryPtr& delivery, const std::string& reason) = 0;
  /// Not now: back into the queue, to be delivered again soon.
  virtual void give_back(std::span<const DeliveryPtr> deliveries) = 0;
};

/// Where rejected messages go, as they were, with two more headers.
inline constexpr const char* dead_letter_queue = "holdfast-dead-letters";
inline constexpr const char* dead_letter_reason = "holdfast-reason";
inline constexpr const char* dead_letter_origin = "holdfast-queue";  ///< where it was before

/// Durable queues of messages. Every message is delivered at least once. Safe to use from many
/// threads.
class Broker {
 public:
  virtual ~Broker() = default;

  /// Makes a durable queue if it is not there.
  virtual void declare(const std::string& queue) = 0;
  /// How many messages wait in a queue; a broker may also count those that were delivered and not
  /// acknowledged. Nothing: it is not there.
  virtual std::optional<std::int64_t> messages(const std::string& queue) = 0;
  bool exists(const std::string& queue) { return messages(queue).has_value(); }
  /// Removes a queue and what is in it. False: it was not there.
  virtual bool remove(const std::string& queue) = 0;
  /// All are durable in their queues when this returns; if it throws, any of them may be. Throws
  /// `QueueMissing` if one of the queues is not there.
  virtual void publish(std::span<const Message> messages) = 0;
  void publish(const Message& message) { publish(std::span{&message, 1}); }
  virtual std::unique_ptr<Consumer> consume(const ConsumerOptions& options) = 0;
  /// The address without secrets, for messages.
  virtual std::string name() const = 0;
  /// What is unsafe about the way to it, for the log, such as clear text to another machine; empty:
  /// nothing.
  virtual std::string warning() const { return {}; }
};

/// Opens a broker by its address: `sqlite:FILE`, which may be the file of a store, or RabbitMQ at
/// `amqp://USER@HOST/VHOST` or `amqps://`. Throws `ConfigError` for an address that makes no sense.
std::shared_ptr<Broker> open_broker(std::string_view address, const Settings& settings = {});
/// The broker in the file of a store that is open already. Throws `InvalidRequest` if that is not a
/// file.
std::shared_ptr<Broker> open_broker(const Engine& engine);

}  // namespace holdfast
