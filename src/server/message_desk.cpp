#include "server/message_desk.hpp"

#include <fmt/format.h>

#include <holdfast/ids.hpp>

#include "server/problem.hpp"

namespace holdfast::server {

MessageDesk::~MessageDesk() {
  sweeper_.request_stop();
  if (sweeper_.joinable()) sweeper_.join();
}

std::shared_ptr<Broker> MessageDesk::broker() {
  std::lock_guard lock{mutex_};
  if (!broker_ && open_) broker_ = open_();
  if (!broker_)
    throw Problem{409, "no_broker",
                  "this server knows no broker for the store; start it with 'serve --broker URL'"};
  return broker_;
}

std::vector<MessageDesk::Handed> MessageDesk::receive(const std::string& queue, int most,
                                                      std::uint64_t most_bytes, Millis wait) {
  const auto from = broker();
  {
    std::lock_guard lock{mutex_};
    if (held_.size() + static_cast<std::size_t>(most) > most_in_hand)
      throw Problem{429, "too_many_messages",
                    fmt::format("{} messages are received and not acknowledged; acknowledge some",
                                held_.size())};
  }
  std::shared_ptr<Consumer> consumer =
      from->consume({.prefetch_bytes = most_bytes, .prefetch = most});
  consumer->listen(queue);
  const auto until = Clock::now() + wait;
  std::vector<DeliveryPtr> taken;
  std::vector<std::string> missing;
  do {
    auto left = std::chrono::ceil<Millis>(until - Clock::now());
    auto news = consumer->receive(std::max(left, Millis{0}));
    for (auto& delivery : news.deliveries) taken.push_back(std::move(delivery));
    if (!news.missing.empty()) throw not_found(fmt::format("there is no queue '{}'", queue));
  } while (taken.empty() && Clock::now() < until);
  std::vector<Handed> handed;
  std::lock_guard lock{mutex_};
  for (auto& delivery : taken) {
    const auto receipt = TaskId::make().text();
    held_[receipt] = {consumer, delivery, Clock::now() + in_hand};
    handed.push_back({receipt, std::move(delivery)});
  }
  if (!held_.empty() && !sweeper_.joinable())
    sweeper_ = std::jthread{[this](const std::stop_token& stop) { sweep(stop); }};
  changed_.notify_all();
  return handed;
}

int MessageDesk::settle(std::span<const std::string> receipts, bool done) {
  std::vector<Held> settled;
  {
    std::lock_guard lock{mutex_};
    for (const auto& receipt : receipts)
      if (auto node = held_.extract(receipt)) settled.push_back(std::move(node.mapped()));
  }
  for (const auto& each : settled)
    done ? each.consumer->acknowledge(std::span{&each.delivery, 1})
         : each.consumer->give_back(std::span{&each.delivery, 1});
  return static_cast<int>(settled.size());
}

void MessageDesk::sweep(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<std::string> late;
    {
      std::unique_lock lock{mutex_};
      auto next = Clock::now() + in_hand;
      for (const auto& [receipt, held] : held_) next = std::min(next, held.until);
      changed_.wait_until(lock, stop, next, [] { return false; });
      for (const auto& [receipt, held] : held_)
        if (held.until <= Clock::now()) late.push_back(receipt);
    }
    try {
      settle(late, false);
    } catch (const Error&) {
      // Letting go of the consumer gives them back, too.
    }
  }
}

}  // namespace holdfast::server
