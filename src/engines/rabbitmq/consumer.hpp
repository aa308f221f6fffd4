#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

#include "engines/rabbitmq/broker.hpp"

namespace holdfast::rabbitmq {

/// Threads:
///
///     callers  leave orders (listen, acknowledge ...) and take what has come
///     link     owns the connection: carries out orders, reads frames while there is room
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
  /// A queue whose consumer the broker has cancelled, which may be about to go, or with which it
  /// failed.
  struct Suspect {
    std::chrono::steady_clock::time_point look_at{};
    Millis patience{};
    bool listened_again = false;
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
  void forget(const RabbitDelivery& delivery);  ///< with the mutex held
  bool came_often(const RabbitDelivery& delivery) const {
    return delivery.deliveries() > options_.max_deliveries / 2;
  }
  void put_back(const std::vector<RabbitDeliveryPtr>& deliveries);
  /// What was delivered too often becomes a dead letter, and is taken out.
  void bury_poison(std::vector<RabbitDeliveryPtr>& deliveries);

  // Link.
  void run(std::stop_token stop);
  void connect();
  void serve(std::stop_token stop);
  /// Says what happened and pauses; returns for how long to pause the next time.
  Millis recover(const Error& error, Millis now, std::stop_token stop);
  void pause(std::stop_token stop, Millis time);
  void listen_to_all();
  void carry_out_orders();
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
  void look_at_suspects();
  /// What the broker was doing when it failed is not asked of it again soon.
  void suspect_what_failed();
  bool listens(const std::string& consumer) const;     ///< with the mutex held
  std::string new_consumer(const std::string& queue);  ///< with the mutex held
  void queue_is_gone(const std::string& queue);        ///< with the mutex held

  std::shared_ptr<RabbitBroker> broker_;
  const ConsumerOptions options_;
  const std::string spool_;
  FileDescriptor wake_;

  std::mutex mutex_;  // guards everything up to the next empty line
  std::condition_variable changed_;
  std::map<std::string, std::string> queues_;  ///< listened to, and the consumer of each
  std::unordered_map<std::string, Listener> consumers_;
  std::vector<Order> orders_;
  std::map<const RabbitDelivery*, RabbitDeliveryPtr> held_;
  std::uint64_t held_bytes_ = 0;
  std::deque<RabbitDeliveryPtr> ready_;
  std::vector<RabbitDeliveryPtr> strays_;  ///< to be put back by `receive`
  std::vector<std::string> missing_;
  std::string trouble_;  ///< told once by `receive`
  bool interrupted_ = false;
  std::uint64_t last_consumer_ = 0;

  // Of the link.
  std::unique_ptr<Connection> connection_;
  std::uint64_t epoch_ = 0;
  std::set<std::uint64_t> outstanding_;  ///< numbers of this epoch: read and not acknowledged
  std::optional<Incoming> incoming_;
  std::map<std::string, Suspect> suspects_;
  std::deque<std::string> asked_;  ///< queues to listen to, not answered yet, in order
  std::chrono::steady_clock::time_point beat_at_{};

  std::jthread link_;
};

}  // namespace holdfast::rabbitmq
