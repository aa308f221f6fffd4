#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace holdfast {

/// Calls `drain` at SIGTERM and SIGINT, and `hurry` from the second one on. Must be made before
/// other threads are, so that they inherit the blocked signals.
class SignalWatch {
 public:
  SignalWatch(std::function<void()> drain, std::function<void()> hurry);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void watch();

  std::function<void()> drain_, hurry_;
  sigset_t watched_{}, before_{};
  int signals_ = -1, end_ = -1;
  std::thread thread_;
};

}  // namespace holdfast
