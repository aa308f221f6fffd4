#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace holdfast::cli {

/// While one of these exists, SIGINT and SIGTERM do not end the process (and, if asked for, SIGTSTP
/// does not stop it); they wait for an `InterruptWatch`. Make it before anything that starts
/// threads, because those inherit what is blocked.
class Interrupts {
 public:
  enum class Of { ends, ends_and_rest };
  explicit Interrupts(Of of = Of::ends);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// The first signal that came; 0: none yet.
  int first() const { return first_; }

 private:
  friend class InterruptWatch;
  Of of_;
  int signals_ = -1;  // a signalfd
  std::atomic<int> first_ = 0;
};

/// Calls `on_signal` in a thread of its own with how many signals have come so far that are to end
/// the process, and `on_rest` for each SIGTSTP. Make it after whatever these use.
class InterruptWatch {
 public:
  InterruptWatch(Interrupts& interrupts, std::function<void(int count)> on_signal,
                 std::function<void()> on_rest = {});
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  void listen();

  Interrupts& interrupts_;
  std::function<void(int)> on_signal_;
  std::function<void()> on_rest_;
  int end_ = -1;  // an eventfd
  std::thread thread_;
};

}  // namespace holdfast::cli
