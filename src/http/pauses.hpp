#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace holdfast::http {

/// Work that is to be handed on later, in a thread of its own. Safe to use from many threads.
class Pauses {
 public:
  using Work = std::function<void()>;  ///< quick, and throws nothing
  ~Pauses() { end(); }

  void begin();
  /// Where they have not begun, or have ended, it is let go of.
  void put(std::chrono::milliseconds pause, Work work);
  /// Lets go of what is still to come.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  void run(std::stop_token stop);

  std::mutex mutex_;  // guards the two below
  std::multimap<Clock::time_point, Work> work_;
  bool begun_ = false;
  std::condition_variable_any changed_;
  std::jthread thread_;
};

}  // namespace holdfast::http
