#include "results/leave_queue.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast::results {

namespace {

constexpr Millis for_stragglers{200};
/// Then others get their turn.
constexpr std::chrono::seconds in_one_go{5};
/// A queue that says that it has messages and delivers none is read at some other time.
constexpr std::chrono::seconds for_the_first{3};

[[noreturn]] void give_up(const std::string& queue, std::int64_t count, const std::string& why) {
  throw QueueUnreadable{
      fmt::format("{} message{} in queue '{}' cannot be read, so it is not "
                  "removed yet{}{}",
                  count, count == 1 ? "" : "s", queue, why.empty() ? "" : ": ", why)};
}

}  // namespace

bool leave_queue(Broker& broker, const std::string& queue, const WhyLeft& why, bool hurried) {
  using Clock = std::chrono::steady_clock;
  auto count = broker.messages(queue);
  if (!count) return true;
  if (*count == 0 && hurried) return broker.remove(queue), true;
  auto consumer = broker.consume({});
  consumer->listen(queue);
  const auto begin = Clock::now();
  auto last = begin;
  // What the broker counts is what nobody has: a message on its way to us is not in it.
  auto expected = *count;
  while (Clock::now() < begin + in_one_go) {
    auto news = consumer->receive(for_stragglers);
    if (!news.missing.empty()) return true;
    for (const auto& unreadable : news.unreadable)
      if (!unreadable.why.empty()) give_up(queue, *count, unreadable.why);
    for (const auto& delivery : news.deliveries) {
      if (auto reason = why(*delivery))
        consumer->reject(delivery, *reason);
      else
        consumer->acknowledge(std::span{&delivery, 1});
      --expected;
      last = Clock::now();
    }
    if (!news.deliveries.empty()) continue;
    count = broker.messages(queue);
    if (!count) return true;
    expected = std::max(expected, *count);
    if (expected <= 0) return broker.remove(queue), true;
    if (Clock::now() > last + for_the_first) give_up(queue, expected, {});
  }
  return false;
}

}  // namespace holdfast::results
