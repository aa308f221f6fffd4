#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <utility>

#include "engines/rabbitmq/consumer.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::rabbitmq {

namespace {

constexpr Millis first_pause{100}, longest_pause{10'000};
/// When a queue that may be about to go is looked at for the first time, and for the last.
constexpr Millis first_look{200}, last_look{30'000};
constexpr int frames_between_orders = 200;
/// What is larger goes through a file. Smaller ones are held in memory up to what may be
/// prefetched.
constexpr std::uint64_t largest_in_memory = 16u << 20;

Millis jittered(Millis time) {
  thread_local std::minstd_rand dice{std::random_device{}()};
  return time / 2 + Millis{std::uniform_int_distribution<Millis::rep>{0, time.count() / 2}(dice)};
}

}  // namespace

void RabbitConsumer::run(std::stop_token stop) {
  auto next_pause = first_pause;
  while (!stop.stop_requested()) {
    try {
      connect();
      next_pause = first_pause;
      serve(stop);
      connection_->close();
    } catch (const Refused& refused) {
      // A queue that went just before we listened to it is found to be missing when that is done
      // anew.
      if (refused.no_such_queue())
        asked_.clear();
      else
        next_pause = recover(refused, next_pause, stop);
    } catch (const Error& error) {
      next_pause = recover(error, next_pause, stop);
    }
  }
}

Millis RabbitConsumer::recover(const Error& error, Millis now, std::stop_token stop) {
  {
    std::lock_guard lock{mutex_};
    trouble_ = error.what();
  }
  changed_.notify_all();
  suspect_what_failed();
  connection_.reset();
  pause(stop, jittered(now));
  return std::min(2 * now, longest_pause);
}

void RabbitConsumer::pause(std::stop_token stop, Millis time) {
  std::mutex mutex;
  std::unique_lock lock{mutex};
  std::condition_variable_any stopped;
  stopped.wait_for(lock, stop, time, [] { return false; });
}

void RabbitConsumer::connect() {
  const auto& address = broker_->address();
  connection_ = std::make_unique<Connection>(address, "holdfast consumer", address.heartbeat);
  beat_at_ = std::chrono::steady_clock::now() + address.heartbeat / 2;
  ++epoch_;
  outstanding_.clear();
  incoming_.reset();
  // Of each queue; how many there are of all is seen to by not reading.
  auto ahead = static_cast<std::uint16_t>(std::clamp(options_.prefetch, 1, 65'535));
  ::amqp_basic_qos(connection_->state(), Connection::channel, 0, ahead, 0);
  connection_->check();
  listen_to_all();
}

void RabbitConsumer::listen_to_all() {
  std::vector<std::string> names;
  {
    std::lock_guard lock{mutex_};
    std::erase_if(orders_, [](const Order& order) {
      return order.kind == Order::Kind::listen || order.kind == Order::Kind::ignore;
    });
    std::erase_if(consumers_, [](const auto& each) { return !each.second.listens; });
    for (const auto& [queue, consumer] : queues_) names.push_back(queue);
  }
  for (const auto& queue : names) {
    bool there = broker_->messages(queue).has_value();
    std::lock_guard lock{mutex_};
    auto at = queues_.find(queue);
    if (at == queues_.end()) continue;
    if (!there)
      queue_is_gone(queue);
    else if (!suspects_.contains(queue))
      start_consumer(queue, at->second);
  }
}

void RabbitConsumer::start_consumer(const std::string& queue, const std::string& consumer) {
  amqp_basic_consume_t consume{};
  consume.queue = bytes_of(queue);
  consume.consumer_tag = bytes_of(consumer);
  connection_->send(AMQP_BASIC_CONSUME_METHOD, &consume);
  asked_.push_back(queue);
}

void RabbitConsumer::serve(std::stop_token stop) {
  while (!stop.stop_requested()) {
    carry_out_orders();
    look_at_suspects();
    bool reading = make_room();
    int frames = 0;
    while (reading && frames < frames_between_orders) {
      auto frame = connection_->read(Millis{0});
      if (!frame) break;
      take(*frame);
      ++frames;
      reading = make_room();
    }
    if (frames < frames_between_orders) wait(reading);
  }
  carry_out_orders();
}

void RabbitConsumer::wait(bool reading) {
  auto half_a_beat = std::chrono::duration_cast<Millis>(broker_->address().heartbeat) / 2;
  // The library sends heartbeats while it reads. While it may not, we do.
  auto now = std::chrono::steady_clock::now();
  if (!reading && now >= beat_at_) {
    connection_->send_heartbeat();
    beat_at_ = now + half_a_beat;
  }
  pollfd both[2] = {{wake_.get(), POLLIN, 0}, {connection_->fd(), POLLIN, 0}};
  auto at_most = suspects_.empty() ? half_a_beat / 2 : first_look;
  ::poll(both, reading ? 2 : 1, static_cast<int>(at_most.count()));
  std::uint64_t count = 0;
  [[maybe_unused]] auto read = ::read(wake_.get(), &count, sizeof count);
}

void RabbitConsumer::carry_out_orders() {
  std::vector<Order> orders;
  {
    std::lock_guard lock{mutex_};
    orders.swap(orders_);
  }
  std::set<std::uint64_t> acknowledged;
  for (const auto& order : orders) {
    if (order.kind == Order::Kind::listen) {
      start_consumer(order.queue, order.consumer);
    } else if (order.kind == Order::Kind::ignore) {
      amqp_basic_cancel_t cancel{};
      cancel.consumer_tag = bytes_of(order.consumer);
      connection_->send(AMQP_BASIC_CANCEL_METHOD, &cancel);
    } else if (order.tag.epoch != epoch_) {
      continue;  // the broker has it back already
    } else if (order.kind == Order::Kind::acknowledge) {
      acknowledged.insert(order.tag.number);
    } else if (outstanding_.erase(order.tag.number) > 0) {
      amqp_basic_nack_t nack{order.tag.number, 0, 1};
      connection_->send(AMQP_BASIC_NACK_METHOD, &nack);
    }
  }
  if (!acknowledged.empty()) acknowledge_now(std::move(acknowledged));
}

// The oldest in a row by one word, the others one by one: what is not dealt with stays.
void RabbitConsumer::acknowledge_now(std::set<std::uint64_t> numbers) {
  kill_point(KillPoint::broker_before_acknowledge);
  amqp_basic_ack_t all{0, 0};
  while (!outstanding_.empty() && numbers.erase(*outstanding_.begin()) > 0) {
    all.multiple = all.delivery_tag != 0;
    all.delivery_tag = *outstanding_.begin();
    outstanding_.erase(outstanding_.begin());
  }
  if (all.delivery_tag != 0) connection_->send(AMQP_BASIC_ACK_METHOD, &all);
  for (auto number : numbers) {
    if (outstanding_.erase(number) == 0) continue;
    amqp_basic_ack_t one{number, 0};
    connection_->send(AMQP_BASIC_ACK_METHOD, &one);
  }
}

bool RabbitConsumer::listens(const std::string& consumer) const {
  auto at = consumers_.find(consumer);
  return at != consumers_.end() && at->second.listens;
}

// What nobody listens to any more is let through and goes back, unless it would then look like
// poison to the next one: that is kept until `receive` puts it back in another way.
bool RabbitConsumer::make_room() {
  if (!incoming_ || !incoming_->delivery || incoming_->has_room || incoming_->skipped) return true;
  auto& delivery = *incoming_->delivery;
  {
    std::lock_guard lock{mutex_};
    incoming_->skipped = !listens(incoming_->consumer) && !came_often(delivery);
    bool room = std::ssize(held_) < options_.prefetch &&
                held_bytes_ + delivery.size() <= options_.prefetch_bytes;
    if (!incoming_->skipped && !room && !held_.empty()) return false;
  }
  if (!incoming_->skipped) {
    bool small = delivery.size() <= std::min(largest_in_memory, options_.prefetch_bytes);
    delivery.prepare(small ? std::string{} : spool_);
    incoming_->has_room = true;
  }
  if (delivery.whole()) take_whole();
  return true;
}

void RabbitConsumer::take(const amqp_frame_t& frame) {
  connection_->check_close(frame);
  if (frame.channel != Connection::channel) return;
  if (frame.frame_type == AMQP_FRAME_METHOD) return take_method(frame.payload.method);
  if (!incoming_) return;
  if (frame.frame_type == AMQP_FRAME_HEADER) return take_header(frame);
  if (frame.frame_type != AMQP_FRAME_BODY || !incoming_->delivery) return;
  auto piece = view(frame.payload.body_fragment);
  if (incoming_->skipped)
    incoming_->delivery->skip(piece.size());
  else
    incoming_->delivery->append(piece);
  if (incoming_->delivery->whole()) take_whole();
}

void RabbitConsumer::take_method(const amqp_method_t& method) {
  if (method.id == AMQP_BASIC_DELIVER_METHOD) {
    const auto* deliver = static_cast<amqp_basic_deliver_t*>(method.decoded);
    incoming_ = Incoming{.consumer = std::string{view(deliver->consumer_tag)},
                         .number = deliver->delivery_tag,
                         .redelivered = deliver->redelivered != 0};
  } else if (method.id == AMQP_BASIC_CANCEL_METHOD) {
    consumer_was_cancelled(
        std::string{view(static_cast<amqp_basic_cancel_t*>(method.decoded)->consumer_tag)});
  } else if (method.id == AMQP_BASIC_CONSUME_OK_METHOD) {
    if (!asked_.empty()) asked_.pop_front();
  } else if (method.id == AMQP_BASIC_CANCEL_OK_METHOD) {
    std::lock_guard lock{mutex_};
    consumers_.erase(
        std::string{view(static_cast<amqp_basic_cancel_ok_t*>(method.decoded)->consumer_tag)});
  }
}

void RabbitConsumer::take_header(const amqp_frame_t& frame) {
  const auto& header = frame.payload.properties;
  auto properties = read_properties(*static_cast<const amqp_basic_properties_t*>(header.decoded));
  std::string queue;
  {
    std::lock_guard lock{mutex_};
    if (auto at = consumers_.find(incoming_->consumer); at != consumers_.end())
      queue = at->second.queue;
  }
  incoming_->delivery = std::make_shared<RabbitDelivery>(
      std::move(queue), Tag{epoch_, incoming_->number}, std::move(properties), header.body_size,
      incoming_->redelivered);
}

void RabbitConsumer::take_whole() {
  auto incoming = std::move(*incoming_);
  incoming_.reset();
  outstanding_.insert(incoming.number);
  std::lock_guard lock{mutex_};
  // It may have been ignored since its first frame.
  bool wanted = listens(incoming.consumer);
  if (incoming.skipped || (!wanted && !came_often(*incoming.delivery)))
    return add({.kind = Order::Kind::requeue, .tag = incoming.delivery->tag()});
  held_bytes_ += incoming.delivery->size();
  held_.emplace(incoming.delivery.get(), incoming.delivery);
  if (wanted)
    ready_.push_back(std::move(incoming.delivery));
  else
    strays_.push_back(std::move(incoming.delivery));
  changed_.notify_all();
}

// The queue is being removed, or the broker moved it elsewhere. A queue that is being removed is
// still there for a moment, and whoever listens to it then hears nothing for ever.
void RabbitConsumer::consumer_was_cancelled(const std::string& consumer) {
  std::lock_guard lock{mutex_};
  if (listens(consumer))
    suspects_[consumers_[consumer].queue] = {
        .look_at = std::chrono::steady_clock::now() + first_look, .patience = first_look};
}

// It answers in order. A queue that cannot be read, as one may be after a crash of the server, must
// not keep all others waiting.
void RabbitConsumer::suspect_what_failed() {
  if (!asked_.empty()) {
    auto& suspect = suspects_[asked_.front()];
    suspect.patience = std::clamp(2 * suspect.patience, first_look, last_look);
    suspect.look_at = std::chrono::steady_clock::now() + suspect.patience;
    suspect.listened_again = false;
  }
  asked_.clear();
}

void RabbitConsumer::look_at_suspects() {
  auto now = std::chrono::steady_clock::now();
  for (auto at = suspects_.begin(); at != suspects_.end();) {
    auto& [queue, suspect] = *at;
    if (now < suspect.look_at) {
      ++at;
      continue;
    }
    bool there = broker_->messages(queue).has_value();
    suspect.patience *= 2;
    suspect.look_at = now + suspect.patience;
    std::lock_guard lock{mutex_};
    bool listened = queues_.contains(queue);
    if (listened && !there) queue_is_gone(queue);
    if (listened && there && !std::exchange(suspect.listened_again, true)) {
      consumers_.erase(queues_[queue]);
      start_consumer(queue, new_consumer(queue));
    }
    at = !listened || !there || suspect.patience > last_look ? suspects_.erase(at) : std::next(at);
  }
}

void RabbitConsumer::queue_is_gone(const std::string& queue) {
  consumers_.erase(queues_[queue]);
  queues_.erase(queue);
  missing_.push_back(queue);
  changed_.notify_all();
}

}  // namespace holdfast::rabbitmq
