#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace holdfast {

/// Calls `drain` at SIGTERM and SIGINT, and `hurry` from the second signal on, both in a thread of
/// its own. Signals are caught by a handler, so it does not matter which threads exist already and
/// what they block. One at a time in a process; throws `Error` for a second one.
class SignalWatch {
 public:
  SignalWatch(std::function<void()> drain, std::function<void()> hurry);
  /// What these signals did before, they do again.
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void watch();

  std::function<void()> drain_, hurry_;
  struct sigaction term_before_ {};
  struct sigaction int_before_ {};
  int signals_ = -1;
  std::thread thread_;
};

}  // namespace holdfast
