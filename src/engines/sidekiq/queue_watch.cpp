#include "engines/sidekiq/queue_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <holdfast/error.hpp>

namespace holdfast::sidekiq {

namespace {

constexpr Millis first_rest{20};
constexpr Millis longest_rest{2'000};
constexpr const char* seconds_at_the_server = "30";

}  // namespace

QueueWatch::QueueWatch(redis::Server& server, std::vector<std::string> queues)
    : server_{server}, wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  for (const auto& queue : queues) queues_.push_back({.key = "queue:" + queue});
}

QueueWatch::~QueueWatch() { ::close(wake_); }

void QueueWatch::interrupt() { ::eventfd_write(wake_, 1); }

void QueueWatch::ask(Queue& queue, Steady::time_point now) {
  if (queue.asked || now < queue.rests_until) return;
  try {
    if (!queue.connection) queue.connection = server_.connect();
    redis::Command command{"BLMOVE", queue.key, queue.key, "RIGHT", "RIGHT", seconds_at_the_server};
    queue.connection->send(command);
    queue.connection->flush();
    queue.asked = true;
  } catch (const StoreError&) {
    // Whoever takes jobs meets the same trouble and tells it.
    queue.connection.reset();
    queue.rests_until = now + longest_rest;
  }
}

void QueueWatch::hear(Queue& queue, Steady::time_point now) {
  queue.asked = false;
  try {
    auto reply = queue.connection->receive();
    queue.has_something = !reply.is_nil() && !reply.is_error();
    if (reply.is_error()) queue.rests_until = now + longest_rest;
  } catch (const StoreError&) {
    queue.connection.reset();
    queue.rests_until = now + first_rest;
  }
}

void QueueWatch::wait(Millis timeout, bool found) {
  auto now = Steady::now();
  bool fruitless = false;
  if (found) pause_ = Millis{0};
  for (auto& queue : queues_) {
    if (!std::exchange(queue.has_something, false) || found) continue;
    // Asking again at once would be answered at once.
    if (!std::exchange(fruitless, true)) pause_ = std::clamp(pause_ * 2, first_rest, longest_rest);
    queue.rests_until = now + pause_;
  }
  auto until = now + timeout;
  std::vector<pollfd> sources{{wake_, POLLIN, 0}};
  for (auto& queue : queues_) {
    ask(queue, now);
    if (queue.asked)
      sources.push_back({queue.connection->fd(), POLLIN, 0});
    else
      until = std::min(until, queue.rests_until);
  }
  auto left = std::chrono::ceil<Millis>(until - now).count();
  if (::poll(sources.data(), sources.size(), static_cast<int>(std::max<std::int64_t>(left, 0))) > 0)
    for (auto& queue : queues_)
      if (queue.asked && queue.connection->ready()) hear(queue, Steady::now());
  eventfd_t wakes = 0;
  ::eventfd_read(wake_, &wakes);
}

}  // namespace holdfast::sidekiq
