#pragma once

#include <map>
#include <mutex>

#include "results/leave_queue.hpp"

namespace holdfast::results {

/// Removes the queues of results that have ended, see `leave_queue`, without keeping the threads
/// that others need. Finding out that a queue cannot be read takes a thread for seconds, so such a
/// queue is left alone for a time that grows, and while there are any, threads read what is left
/// one after the other.
class LeftQueues {
 public:
  /// False: there is more to do, or another thread is at it; call it again after a while. Throws
  /// `QueueUnreadable`, at once while the queue is left alone.
  bool leave(Broker& broker, const std::string& queue, const WhyLeft& why, bool hurried);

 private:
  using Clock = std::chrono::steady_clock;
  struct Trouble {
    std::string why{};
    Millis pause{};
    Clock::time_point until{};
  };
  class Turn;

  void check_trouble(const std::string& queue);
  bool begin();
  void failed(const std::string& queue, const std::string& why, Clock::duration took);
  void went_well(const std::string& queue);

  std::mutex mutex_;  // guards everything below
  std::map<std::string, Trouble> troubles_;
  int at_it_ = 0;                    ///< threads
  Clock::time_point rests_until_{};  ///< so that a single thread has time for others, too
};

}  // namespace holdfast::results
