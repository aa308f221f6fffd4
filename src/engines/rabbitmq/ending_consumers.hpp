#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include <holdfast/task.hpp>

namespace holdfast::rabbitmq {

/// Queues that consumers have stopped reading while the server has not answered `basic.cancel` yet.
/// A queue that is deleted in this moment makes RabbitMQ 3 close the connection of the consumer,
/// and with it stop every other queue that is read on it. So who removes a queue waits.
class EndingConsumers {
 public:
  void begin(const std::string& queue) {
    std::lock_guard lock{mutex_};
    ++ending_[queue];
  }

  void ended(const std::string& queue) {
    std::lock_guard lock{mutex_};
    auto at = ending_.find(queue);
    if (at == ending_.end() || --at->second > 0) return;
    ending_.erase(at);
    changed_.notify_all();
  }

  /// False: one has not ended by then.
  bool wait_for(const std::string& queue, Millis at_most) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, at_most, [&] { return !ending_.contains(queue); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, int> ending_;  ///< how many consumers of each
};

}  // namespace holdfast::rabbitmq
