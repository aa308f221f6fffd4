#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engines/rabbitmq/consumer.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::rabbitmq {

namespace {

/// A queue that was found to be readable a moment ago does not answer.
constexpr Millis longest_answer{10'000};
constexpr int frames_between_orders = 200;
/// What is larger goes through a file. Smaller ones are held in memory up to what may be
/// prefetched.
constexpr std::uint64_t largest_in_memory = 16u << 20;

}  // namespace

void RabbitConsumer::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    try {
      wait_for_orders(stop);
      if (stop.stop_requested()) return;
      connect();
      serve(stop);
      connection_->close();
    } catch (const Closed& closed) {
      recover(closed, true, stop);
    } catch (const Error& error) {
      recover(error, false, stop);
    }
  }
}

void RabbitConsumer::wait_for_orders(std::stop_token stop) {
  const auto some = [this] {
    std::lock_guard lock{mutex_};
    return std::ranges::any_of(
        orders_, [](const Order& order) { return order.kind == Order::Kind::listen; });
  };
  while (!stop.stop_requested() && !some()) {
    pollfd one{wake_.get(), POLLIN, 0};
    ::poll(&one, 1, -1);
    take_wake();
  }
}

void RabbitConsumer::take_wake() const {
  std::uint64_t count = 0;
  [[maybe_unused]] auto read = ::read(wake_.get(), &count, sizeof count);
}

void RabbitConsumer::recover(const Error& error, bool closed, std::stop_token stop) {
  connection_.reset();
  std::vector<std::string> queues;
  const auto culprit = asked_.empty() ? std::string{} : asked_.front();
  asked_.clear();
  {
    std::lock_guard lock{mutex_};
    // Where one queue is to blame, that is told of this queue.
    if (!closed || culprit.empty()) trouble_ = error.what();
    std::erase_if(orders_, [](const Order& order) {
      return order.kind == Order::Kind::listen || order.kind == Order::Kind::ignore;
    });
    forget_consumers();
    proven_.clear();
    given_back_.clear();
    for (auto& [queue, consumer] : queues_) {
      consumer.clear();
      if (!closed || queue != culprit) queues.push_back(queue);
    }
  }
  changed_.notify_all();
  if (closed && !culprit.empty()) entrance_->put_aside(culprit, error.what());
  for (const auto& queue : queues) entrance_->add(queue);
  auto lived = std::chrono::steady_clock::now() - connected_at_;
  pause(stop, reconnecting_.ended_after(std::chrono::duration_cast<Millis>(lived)));
}

void RabbitConsumer::pause(std::stop_token stop, Millis time) {
  std::mutex mutex;
  std::unique_lock lock{mutex};
  std::condition_variable_any stopped;
  stopped.wait_for(lock, stop, time, [] { return false; });
}

void RabbitConsumer::connect() {
  const auto& address = broker_->address();
  connected_at_ = std::chrono::steady_clock::now();
  connection_ = std::make_unique<Connection>(address, "holdfast consumer", address.heartbeat);
  connected_at_ = std::chrono::steady_clock::now();
  beat_at_ = connected_at_ + address.heartbeat / 2;
  begin_channel();
}

void RabbitConsumer::begin_channel() {
  ++epoch_;
  outstanding_.clear();
  incoming_.reset();
  asked_.clear();
  connection_->ensure_channel();
  // Of each queue; how many there are of all is seen to by not reading.
  connection_->limit_prefetch(Connection::channel, options_.prefetch);
}

bool RabbitConsumer::reopen(const Refused&) {
  if (asked_.empty()) return false;
  const auto culprit = asked_.front();
  begin_channel();
  {
    std::lock_guard lock{mutex_};
    shut_out(culprit);
    std::erase_if(orders_, [](const Order& order) {
      return order.kind == Order::Kind::listen || order.kind == Order::Kind::ignore;
    });
    forget_consumers();
    for (auto& [queue, consumer] : queues_)
      if (!consumer.empty()) let_in(queue);
  }
  entrance_->add(culprit);
  return true;
}

void RabbitConsumer::start_consumer(const std::string& queue, const std::string& consumer) {
  amqp_basic_consume_t consume{};
  consume.queue = bytes_of(queue);
  consume.consumer_tag = bytes_of(consumer);
  connection_->send(AMQP_BASIC_CONSUME_METHOD, &consume);
  if (asked_.empty()) answered_at_ = std::chrono::steady_clock::now();
  asked_.push_back(queue);
}

void RabbitConsumer::serve(std::stop_token stop) {
  while (!stop.stop_requested()) {
    try {
      carry_out_orders();
      bool reading = make_room();
      int frames = 0;
      while (reading && frames < frames_between_orders) {
        auto frame = connection_->read(Millis{0});
        if (!frame) break;
        take(*frame);
        ++frames;
        reading = make_room();
      }
      check_answers(reading);
      if (frames < frames_between_orders) wait(reading);
    } catch (const Refused& refused) {
      if (!reopen(refused)) throw;
    }
  }
  carry_out_orders();
}

// While nothing is read, the answer may be behind what is not.
void RabbitConsumer::check_answers(bool reading) {
  auto now = std::chrono::steady_clock::now();
  if (!reading || asked_.empty())
    answered_at_ = now;
  else if (now - answered_at_ > longest_answer)
    throw Closed{fmt::format("queue '{}' does not answer basic.consume", asked_.front())};
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
  auto at_most = asked_.empty() ? half_a_beat / 2 : std::min(half_a_beat / 2, longest_answer / 4);
  ::poll(both, reading ? 2 : 1, static_cast<int>(at_most.count()));
  take_wake();
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
    answered_at_ = std::chrono::steady_clock::now();
  } else if (method.id == AMQP_BASIC_CANCEL_OK_METHOD) {
    std::lock_guard lock{mutex_};
    forget_consumer(
        std::string{view(static_cast<amqp_basic_cancel_ok_t*>(method.decoded)->consumer_tag)});
  }
}

void RabbitConsumer::take_header(const amqp_frame_t& frame) {
  const auto& header = frame.payload.properties;
  auto properties = read_properties(*static_cast<const amqp_basic_properties_t*>(header.decoded));
  std::string queue;
  int gave_back = 0;
  {
    std::lock_guard lock{mutex_};
    if (auto at = consumers_.find(incoming_->consumer); at != consumers_.end())
      queue = at->second.queue;
    if (auto first = given_back_.extract(queue)) gave_back = first.mapped();
  }
  incoming_->delivery = std::make_shared<RabbitDelivery>(
      std::move(queue), Tag{epoch_, incoming_->number}, std::move(properties), header.body_size,
      incoming_->redelivered);
  if (gave_back > 0) incoming_->delivery->was_tried(gave_back);
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
// still there for a moment, and a consumer that begins then never hears that it has gone.
void RabbitConsumer::consumer_was_cancelled(const std::string& consumer) {
  std::string queue;
  {
    std::lock_guard lock{mutex_};
    if (!listens(consumer)) return;
    queue = consumers_[consumer].queue;
    shut_out(queue);
  }
  entrance_->watch(queue);
}

}  // namespace holdfast::rabbitmq
