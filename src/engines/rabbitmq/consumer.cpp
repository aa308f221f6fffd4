#include "engines/rabbitmq/consumer.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "recovery/kill_point.hpp"

namespace holdfast::rabbitmq {

namespace {

constexpr std::size_t most_proven = 10'000;
/// What a queue has counted so often is put back as a copy. The default limit of RabbitMQ 4 is 20.
constexpr int often = 8;

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
      link_{[this](std::stop_token stop) { run(stop); }},
      entrance_{std::make_unique<Entrance>(broker_->address(), ways())} {}

RabbitConsumer::~RabbitConsumer() {
  link_.request_stop();
  wake();
  link_.join();
  entrance_.reset();
  forget_consumers();
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

// Nothing is asked of the queue here: one that does not answer must not delay who listens.
void RabbitConsumer::listen(const std::string& queue) {
  {
    std::lock_guard lock{mutex_};
    if (!queues_.emplace(queue, std::string{}).second) return;
    if (proven_.contains(queue)) return let_in(queue);
  }
  entrance_->add(queue);
}

std::string RabbitConsumer::new_consumer(const std::string& queue) {
  auto consumer = fmt::format("holdfast-{}", ++last_consumer_);
  consumers_[consumer] = {queue, true};
  queues_[queue] = consumer;
  return consumer;
}

void RabbitConsumer::let_in(const std::string& queue) {
  auto consumer = new_consumer(queue);
  add({.kind = Order::Kind::listen, .queue = queue, .consumer = consumer});
}

void RabbitConsumer::forget_consumer(const std::string& consumer) {
  auto at = consumers_.find(consumer);
  if (at == consumers_.end()) return;
  if (!at->second.listens) broker_->ending_consumers().ended(at->second.queue);
  consumers_.erase(at);
}

void RabbitConsumer::forget_consumers() {
  while (!consumers_.empty()) forget_consumer(std::string{consumers_.begin()->first});
}

void RabbitConsumer::shut_out(const std::string& queue) {
  proven_.erase(queue);
  given_back_.erase(queue);
  auto at = queues_.find(queue);
  if (at == queues_.end() || at->second.empty()) return;
  forget_consumer(at->second);
  at->second.clear();
}

Entrance::Ways RabbitConsumer::ways() {
  return {.open = [this](const std::string& queue, int back) { can_be_read(queue, back); },
          .gone = [this](const std::string& queue) { queue_is_gone(queue); },
          .unreadable =
              [this](const std::string& queue, const std::string& why) {
                std::lock_guard lock{mutex_};
                if (queues_.contains(queue)) unreadable_.push_back({queue, why});
                changed_.notify_all();
              },
          .trouble =
              [this](const std::string& why) {
                std::lock_guard lock{mutex_};
                trouble_ = why;
                changed_.notify_all();
              }};
}

void RabbitConsumer::can_be_read(const std::string& queue, int gave_back) {
  std::lock_guard lock{mutex_};
  auto at = queues_.find(queue);
  if (at == queues_.end() || !at->second.empty()) return;
  if (proven_.size() >= most_proven) proven_.clear();
  proven_.insert(queue);
  if (gave_back > 0) given_back_[queue] = gave_back;
  let_in(queue);
}

void RabbitConsumer::queue_is_gone(const std::string& queue) {
  std::lock_guard lock{mutex_};
  shut_out(queue);
  if (queues_.erase(queue) == 0) return;
  missing_.push_back(queue);
  changed_.notify_all();
}

void RabbitConsumer::ignore(const std::string& queue) {
  std::vector<RabbitDeliveryPtr> back;
  entrance_->drop(queue);
  {
    std::lock_guard lock{mutex_};
    if (auto at = queues_.find(queue); at != queues_.end()) {
      if (!at->second.empty()) {
        add({.kind = Order::Kind::ignore, .consumer = at->second});
        consumers_.at(at->second).listens = false;
        broker_->ending_consumers().begin(queue);
      }
      queues_.erase(at);
    }
    std::erase_if(unreadable_, [&](const auto& each) { return each.queue == queue; });
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
             !unreadable_.empty() || !trouble_.empty();
    });
    interrupted_ = false;
    if (!trouble_.empty()) throw BrokerError{std::exchange(trouble_, {})};
    taken.assign(ready_.begin(), ready_.end());
    ready_.clear();
    strays = std::exchange(strays_, {});
    news.missing = std::exchange(missing_, {});
    news.unreadable = std::exchange(unreadable_, {});
  }
  put_back(strays);
  news.deliveries.assign(taken.begin(), taken.end());
  return news;
}

void RabbitConsumer::interrupt() {
  std::lock_guard lock{mutex_};
  interrupted_ = true;
  changed_.notify_all();
}

bool RabbitConsumer::came_often(const RabbitDelivery& delivery) {
  return delivery.deliveries() > often;
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

// A quorum queue counts what is given back as it counts crashes, and one with a delivery limit of
// its own drops what it has counted too often. The count of a copy begins at 0.
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
