#include "engines/rabbitmq/publisher.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "engines/rabbitmq/properties.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::rabbitmq {

namespace {

/// So many may be on their way. A broker whose confirms nobody reads would stop reading, too.
constexpr std::size_t window = 500;
constexpr Millis least_patience{30'000};
constexpr std::uint64_t slowest_disk = 1'000;  ///< bytes in a millisecond
constexpr std::size_t piece_size = 128 * 1024 - 8;

/// One round of sending on a connection.
class Round {
 public:
  explicit Round(Connection& connection) : connection_{connection} {
    connection_.ensure_confirms();
  }

  void send(const Letter& letter) {
    Properties properties{letter.id, letter.headers};
    amqp_basic_publish_t publish{};
    publish.exchange = amqp_empty_bytes;
    publish.routing_key = bytes_of(letter.queue);
    publish.mandatory = 1;  // or what goes nowhere would be confirmed
    connection_.send(AMQP_BASIC_PUBLISH_METHOD, &publish);
    amqp_frame_t header{};
    header.frame_type = AMQP_FRAME_HEADER;
    header.channel = Connection::channel;
    header.payload.properties.class_id = AMQP_BASIC_CLASS;
    header.payload.properties.body_size = letter.size;
    header.payload.properties.decoded = &properties.get();
    connection_.send(header);
    send_body(letter);
    waiting_.insert(connection_.count_published());
    bytes_ += letter.size;
    while (waiting_.size() >= window) take_one();
  }

  void finish() {
    while (!waiting_.empty()) take_one();
    if (!nowhere_.empty())
      throw QueueMissing{fmt::format("there is no queue '{}'; declare it first", nowhere_)};
    if (refused_) throw BrokerError{"the broker would not keep a message; a queue may be full"};
  }

 private:
  void send_body(const Letter& letter) {
    buffer_.resize(std::min<std::uint64_t>(letter.size, piece_size));
    for (std::uint64_t at = 0; at < letter.size;) {
      auto some = read(letter, at);
      amqp_frame_t body{};
      body.frame_type = AMQP_FRAME_BODY;
      body.channel = Connection::channel;
      body.payload.body_fragment = bytes_of({buffer_.data(), some});
      connection_.send(body);
      at += some;
    }
  }

  std::size_t read(const Letter& letter, std::uint64_t at) {
    try {
      if (auto some = letter.read(at, buffer_); some > 0) return some;
    } catch (const BrokerError& error) {
      // The broker waits for the rest of the body, so nothing else can be said on this connection.
      throw Disconnected{error.what()};
    }
    throw Disconnected{"a message ended before its time"};
  }

  /// Headers and bodies of what comes back follow, and are of no interest.
  void take_one() {
    auto frame = connection_.read(patience_for(bytes_));
    if (!frame)
      throw Disconnected{blocked_.empty()
                             ? "the broker did not confirm a message in time"
                             : fmt::format("the broker takes no messages: {}", blocked_)};
    connection_.check_close(*frame);
    if (frame->frame_type != AMQP_FRAME_METHOD) return;
    const auto& method = frame->payload.method;
    if (method.id == AMQP_BASIC_ACK_METHOD) {
      const auto* ack = static_cast<amqp_basic_ack_t*>(method.decoded);
      settle(ack->delivery_tag, ack->multiple);
    } else if (method.id == AMQP_BASIC_NACK_METHOD) {
      const auto* nack = static_cast<amqp_basic_nack_t*>(method.decoded);
      settle(nack->delivery_tag, nack->multiple);
      refused_ = true;
    } else if (method.id == AMQP_BASIC_RETURN_METHOD) {
      nowhere_ = view(static_cast<amqp_basic_return_t*>(method.decoded)->routing_key);
    } else if (method.id == AMQP_CONNECTION_BLOCKED_METHOD) {
      blocked_ = view(static_cast<amqp_connection_blocked_t*>(method.decoded)->reason);
    } else if (method.id == AMQP_CONNECTION_UNBLOCKED_METHOD) {
      blocked_.clear();
    }
  }

  void settle(std::uint64_t tag, bool and_before) {
    if (and_before)
      waiting_.erase(waiting_.begin(), waiting_.upper_bound(tag));
    else
      waiting_.erase(tag);
  }

  Connection& connection_;
  std::set<std::uint64_t> waiting_;
  std::uint64_t bytes_ = 0;
  std::string nowhere_, blocked_;
  bool refused_ = false;
  std::string buffer_;
};

}  // namespace

Millis patience_for(std::uint64_t bytes) {
  return least_patience + Millis{static_cast<Millis::rep>(bytes / slowest_disk)};
}

void Publisher::publish(std::span<const Letter> letters) {
  if (letters.empty()) return;
  const auto& queue = letters.front().queue;
  bool all_there =
      std::ranges::all_of(letters, [&](const auto& each) { return each.queue == queue; });
  // Where there are several queues, it would not be known which of them does not answer.
  lines_.with(all_there ? queue : std::string{}, [&](Connection& connection) {
    Round round{connection};
    for (const auto& letter : letters) round.send(letter);
    kill_point(KillPoint::broker_before_confirm);
    round.finish();
    kill_point(KillPoint::broker_after_confirm);
  });
}

}  // namespace holdfast::rabbitmq
