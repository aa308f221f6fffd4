#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/task.hpp>

#include "engines/redis/server.hpp"

namespace holdfast::sidekiq {

/// Waits until there is something on a queue, without asking again and again and without taking it:
/// the server is told to move the oldest job of the queue to where it is, which it can do as soon
/// as there is one. One connection for each queue. Used by one thread, but for `interrupt`.
class QueueWatch {
 public:
  QueueWatch(redis::Server& server, std::vector<std::string> queues);
  ~QueueWatch();
  QueueWatch(const QueueWatch&) = delete;
  QueueWatch& operator=(const QueueWatch&) = delete;

  /// Returns when a queue has something, after `timeout`, or when it is interrupted. `found`: since
  /// the last time something was for us. Queues that only have what is for others are left alone
  /// for longer and longer.
  void wait(Millis timeout, bool found);
  /// From any thread.
  void interrupt();

 private:
  using Steady = std::chrono::steady_clock;
  struct Queue {
    std::string key;
    std::unique_ptr<redis::Connection> connection{};
    bool asked = false;
    bool has_something = false;  ///< as the server said last
    Steady::time_point rests_until{};
  };
  void ask(Queue& queue, Steady::time_point now);
  void hear(Queue& queue, Steady::time_point now);

  redis::Server& server_;
  std::vector<Queue> queues_;
  Millis pause_{0};
  int wake_ = -1;
};

}  // namespace holdfast::sidekiq
