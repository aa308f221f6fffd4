#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "engines/rabbitmq/broker.hpp"
#include "engines/rabbitmq/entrance.hpp"
#include "engines/rabbitmq/pause.hpp"

namespace holdfast::rabbitmq {

/// Threads:
///
///     callers   leave orders (listen, acknowledge ...) and take what has come
///     entrance  finds out which queues can be read; see `Entrance`
///     link      owns the one connection, with one channel, on which all of these are read: carries
///               out orders, reads frames while there is room
///
/// Where there is no room, nothing is read, and what the broker has sent waits in sockets: so
/// memory is bounded however much the broker would send ahead. Nothing is asked on this connection
/// whose answer would have to be waited for behind messages.
class RabbitConsumer final : public Consumer {
 public:
  RabbitConsumer(std::shared_ptr<RabbitBroker> broker, const ConsumerOptions& options);
  ~RabbitConsumer() override;

  void listen(const std::string& queue) override;
  void ignore(const std::string& queue) override;
  News receive(Millis timeout) override;
  void interrupt() override;
  void acknowledge(std::span<const DeliveryPtr> deliveries) override;
  void reject(const DeliveryPtr& delivery, const std::string& reason) override;
  void give_back(std::span<const DeliveryPtr> deliveries) override;

 private:
  using RabbitDeliveryPtr = std::shared_ptr<RabbitDelivery>;
  struct Order {
    enum class Kind { listen, ignore, acknowledge, requeue };
    Kind kind;
    std::string queue{};     ///< to listen to
    std::string consumer{};  ///< to listen or ignore: the name of it on the channel
    Tag tag{};               ///< to acknowledge or requeue
  };
  /// A consumer in the words of AMQP: one queue. Known until nothing can come by it any more.
  struct Listener {
    std::string queue;
    bool listens = true;
  };
  /// A message of which frames are yet to come.
  struct Incoming {
    std::string consumer{};
    std::uint64_t number = 0;
    bool redelivered = false;
    RabbitDeliveryPtr delivery{};  ///< when its header is there
    bool has_room = false;
    bool skipped = false;  ///< nobody listens any more: it goes back when it is through
  };

  // Callers.
  void add(Order order);  ///< with the mutex held
  void wake() const;
  void take_wake() const;
  void forget(const RabbitDelivery& delivery);  ///< with the mutex held
  static bool came_often(const RabbitDelivery& delivery);
  void put_back(const std::vector<RabbitDeliveryPtr>& deliveries);

  // Entrance.
  Entrance::Ways ways();
  void can_be_read(const std::string& queue, int gave_back);
  void queue_is_gone(const std::string& queue);

  // Link.
  void run(std::stop_token stop);
  /// Until there is something to read, or we are to stop.
  void wait_for_orders(std::stop_token stop);
  void connect();
  void begin_channel();
  void serve(std::stop_token stop);
  /// The server closed the channel, because of one queue or for no reason that we know. Returns
  /// false in the second case.
  bool reopen(const Refused& refused);
  /// Says what happened and pauses. Every queue goes through the entrance again.
  void recover(const Error& error, bool closed, std::stop_token stop);
  void pause(std::stop_token stop, Millis time);
  void carry_out_orders();
  void check_answers(bool reading);
  void start_consumer(const std::string& queue, const std::string& consumer);
  void acknowledge_now(std::set<std::uint64_t> numbers);
  /// Whether frames may be read: what is incoming has room.
  bool make_room();
  void wait(bool reading);
  void take(const amqp_frame_t& frame);
  void take_method(const amqp_method_t& method);
  void take_header(const amqp_frame_t& frame);
  void take_whole();
  void consumer_was_cancelled(const std::string& consumer);
  bool listens(const std::string& consumer) const;     ///< with the mutex held
  std::string new_consumer(const std::string& queue);  ///< with the mutex held
  void let_in(const std::string& queue);               ///< with the mutex held
  void forget_consumer(const std::string& consumer);   ///< with the mutex held
  void forget_consumers();                             ///< with the mutex held
  /// Its queue is not read until it has come through the entrance again. With the mutex held.
  void shut_out(const std::string& queue);

  std::shared_ptr<RabbitBroker> broker_;
  const ConsumerOptions options_;
  const std::string spool_;
  FileDescriptor wake_;

  std::mutex mutex_;  // guards everything up to the next empty line
  std::condition_variable changed_;
  /// Listened to, and the consumer of each; an empty one is at the entrance.
  std::map<std::string, std::string> queues_;
  /// These were let in since the connection was made, and need not be tried again.
  std::unordered_set<std::string> proven_;
  /// Of a queue that was let in: how often its first message had been delivered before the trial.
  std::unordered_map<std::string, int> given_back_;
  std::unordered_map<std::string, Listener> consumers_;
  std::vector<Order> orders_;
  std::map<const RabbitDelivery*, RabbitDeliveryPtr> held_;
  std::uint64_t held_bytes_ = 0;
  std::deque<RabbitDeliveryPtr> ready_;
  std::vector<RabbitDeliveryPtr> strays_;  ///< to be put back by `receive`
  std::vector<std::string> missing_;
  std::vector<Unreadable> unreadable_;
  std::string trouble_;  ///< told once by `receive`
  bool interrupted_ = false;
  std::uint64_t last_consumer_ = 0;

  // Of the link.
  std::unique_ptr<Connection> connection_;
  std::uint64_t epoch_ = 0;
  std::set<std::uint64_t> outstanding_;  ///< numbers of this epoch: read and not acknowledged
  std::optional<Incoming> incoming_;
  std::deque<std::string> asked_;  ///< queues to listen to, not answered yet, in order
  std::chrono::steady_clock::time_point answered_at_{};  ///< or asked, or not read since
  std::chrono::steady_clock::time_point beat_at_{}, connected_at_{};
  Reconnecting reconnecting_;

  std::jthread link_;
  std::unique_ptr<Entrance> entrance_;
};

}  // namespace holdfast::rabbitmq
