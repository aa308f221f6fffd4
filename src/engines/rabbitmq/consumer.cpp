#include "engines/rabbitmq/consumer.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "recovery/kill_point.hpp"

namespace holdfast::rabbitmq {

namespace {

std::shared_ptr<RabbitDelivery> ours(const DeliveryPtr& delivery) {
  return std::dynamic_pointer_cast<RabbitDelivery>(delivery);
}

std::string spool_of(const Address& address) {
  return address.spool.empty() ? std::filesystem::temp_directory_path().string() : address.spool;
}

}  // namespace

RabbitConsumer::RabbitConsumer(std::shared_ptr<RabbitBroker> broker, const ConsumerOptions& options)
    : broker_{std::move(broker)},
      options_{options},
      spool_{spool_of(broker_->address())},
      wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      link_{[this](std::stop_token stop) { run(stop); }} {}

RabbitConsumer::~RabbitConsumer() {
  link_.request_stop();
  wake();
}

void RabbitConsumer::wake() const {
  const std::uint64_t one = 1;
  // It can only fail where it is awake already.
  [[maybe_unused]] auto written = ::write(wake_.get(), &one, sizeof one);
}

void RabbitConsumer::add(Order order) {
  orders_.push_back(std::move(order));
  wake();
}

void RabbitConsumer::listen(const std::string& queue) {
  if (!broker_->messages(queue)) throw QueueMissing{fmt::format("there is no queue '{}'", queue)};
  std::lock_guard lock{mutex_};
  if (queues_.contains(queue)) return;
  auto consumer = new_consumer(queue);
  add({.kind = Order::Kind::listen, .queue = queue, .consumer = consumer});
}

std::string RabbitConsumer::new_consumer(const std::string& queue) {
  auto consumer = fmt::format("holdfast-{}", ++last_consumer_);
  consumers_[consumer] = {queue, true};
  queues_[queue] = consumer;
  return consumer;
}

void RabbitConsumer::ignore(const std::string& queue) {
  std::vector<RabbitDeliveryPtr> back;
  {
    std::lock_guard lock{mutex_};
    if (auto at = queues_.find(queue); at != queues_.end()) {
      add({.kind = Order::Kind::ignore, .consumer = at->second});
      consumers_.at(at->second).listens = false;
      queues_.erase(at);
    }
    std::erase_if(ready_, [&](const auto& each) { return each->queue() == queue; });
    for (const auto& [pointer, delivery] : held_)
      if (delivery->queue() == queue) back.push_back(delivery);
  }
  put_back(back);
}

Consumer::News RabbitConsumer::receive(Millis timeout) {
  std::vector<RabbitDeliveryPtr> taken, strays;
  News news;
  {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, timeout, [&] {
      return interrupted_ || !ready_.empty() || !strays_.empty() || !missing_.empty() ||
             !trouble_.empty();
    });
    interrupted_ = false;
    if (!trouble_.empty()) throw BrokerError{std::exchange(trouble_, {})};
    taken.assign(ready_.begin(), ready_.end());
    ready_.clear();
    strays = std::exchange(strays_, {});
    news.missing = std::exchange(missing_, {});
  }
  put_back(strays);
  bury_poison(taken);
  news.deliveries.assign(taken.begin(), taken.end());
  return news;
}

void RabbitConsumer::bury_poison(std::vector<RabbitDeliveryPtr>& deliveries) {
  std::erase_if(deliveries, [&](const RabbitDeliveryPtr& delivery) {
    if (delivery->deliveries() <= options_.max_deliveries) return false;
    try {
      reject(delivery, fmt::format("it was delivered {} times and never acknowledged",
                                   delivery->deliveries() - 1));
    } catch (const BrokerError&) {
      // Then it is not buried yet, and comes again.
      std::lock_guard lock{mutex_};
      add({.kind = Order::Kind::requeue, .tag = delivery->tag()});
      forget(*delivery);
    }
    return true;
  });
}

void RabbitConsumer::interrupt() {
  std::lock_guard lock{mutex_};
  interrupted_ = true;
  changed_.notify_all();
}

void RabbitConsumer::forget(const RabbitDelivery& delivery) {
  auto at = held_.find(&delivery);
  if (at == held_.end()) return;
  held_bytes_ -= delivery.size();
  held_.erase(at);
}

void RabbitConsumer::acknowledge(std::span<const DeliveryPtr> deliveries) {
  std::lock_guard lock{mutex_};
  for (const auto& each : deliveries) {
    auto delivery = ours(each);
    add({.kind = Order::Kind::acknowledge, .tag = delivery->tag()});
    forget(*delivery);
  }
}

void RabbitConsumer::reject(const DeliveryPtr& delivery, const std::string& reason) {
  auto mine = ours(delivery);
  auto headers = mine->headers();
  headers[dead_letter_reason] = reason;
  headers[dead_letter_origin] = mine->queue();
  broker_->declare(dead_letter_queue);
  broker_->pass_on(*mine, dead_letter_queue, std::move(headers));
  kill_point(KillPoint::broker_after_dead_letter);
  acknowledge(std::span{&delivery, 1});
}

void RabbitConsumer::give_back(std::span<const DeliveryPtr> deliveries) {
  std::vector<RabbitDeliveryPtr> back;
  for (const auto& each : deliveries) back.push_back(ours(each));
  put_back(back);
}

// A quorum queue counts what is given back as it counts crashes. One that was given back often,
// because something else was away, must not be taken for poison: a copy begins to count anew.
void RabbitConsumer::put_back(const std::vector<RabbitDeliveryPtr>& deliveries) {
  for (const auto& delivery : deliveries) {
    auto kind = Order::Kind::requeue;
    if (came_often(*delivery)) {
      try {
        broker_->pass_on(*delivery, delivery->queue(), delivery->headers());
        kind = Order::Kind::acknowledge;
      } catch (const BrokerError&) {
        // As it is, then. It is only counted once more.
        kind = Order::Kind::requeue;
      }
    }
    std::lock_guard lock{mutex_};
    add({.kind = kind, .tag = delivery->tag()});
    forget(*delivery);
  }
}

}  // namespace holdfast::rabbitmq
