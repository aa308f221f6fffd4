#pragma once

#include <holdfast/broker.hpp>

#include "engines/rabbitmq/properties.hpp"
#include "transactions/message_body.hpp"

namespace holdfast::rabbitmq {

/// By which name a channel knows a delivery. Another channel uses the same numbers for others.
struct Tag {
  std::uint64_t epoch = 0;  ///< counts the channels that a consumer has had
  std::uint64_t number = 0;
};

/// A message that comes frame by frame, into memory or into a file without a name.
class RabbitDelivery final : public Delivery {
 public:
  RabbitDelivery(std::string queue, Tag tag, ReceivedProperties properties, std::uint64_t size,
                 bool redelivered);

  const std::string& queue() const override { return queue_; }
  const std::string& id() const override { return properties_.id; }
  const MessageHeaders& headers() const override { return properties_.headers; }
  std::uint64_t size() const override { return body_.size; }
  int deliveries() const override { return deliveries_; }
  std::size_t read(std::uint64_t offset, std::span<char> into) override {
    return body_.read(offset, into, properties_.id);
  }

  Tag tag() const { return tag_; }
  /// It may have been delivered once more while its queue was tried, which does not count.
  void was_tried(int deliveries) {
    if (deliveries_ == deliveries + 1) deliveries_ = deliveries;
  }
  /// Before the first piece: where they go. An empty folder: memory.
  void prepare(const std::string& folder);
  void append(std::string_view piece);
  /// A piece that nobody wants.
  void skip(std::size_t bytes) { written_ += bytes; }
  bool whole() const { return written_ == body_.size; }

 private:
  std::string queue_;
  Tag tag_;
  ReceivedProperties properties_;
  MessageBody body_;
  int deliveries_;
  std::uint64_t written_ = 0;
};

}  // namespace holdfast::rabbitmq
