#pragma once

#include <functional>
#include <span>

#include "engines/rabbitmq/line.hpp"

namespace holdfast::rabbitmq {

/// A message on its way out. Its body is read while it is sent.
struct Letter {
  std::string queue;
  std::string id;
  MessageHeaders headers;
  std::uint64_t size = 0;
  std::function<std::size_t(std::uint64_t offset, std::span<char> into)> read;
};

/// How long the next confirm is waited for when so many bytes are on their way: the server confirms
/// what is on its disk, and a part of 250 MB takes its time to get there.
Millis patience_for(std::uint64_t bytes);

/// Sends messages and waits until the broker has confirmed each.
class Publisher {
 public:
  explicit Publisher(const Address& address) : lines_{address, "holdfast publisher"} {}

  /// See `Broker::publish`.
  void publish(std::span<const Letter> letters);

 private:
  Lines lines_;
};

}  // namespace holdfast::rabbitmq
