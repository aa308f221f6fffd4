#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>

#include "tasks/task_store.hpp"

namespace holdfast::postgres {

/// What has happened, for the threads of this process that wait for it. Each hears of everything
/// since its own last wait.
class News {
 public:
  void work();
  void control();
  void interrupt();
  /// Whether others can be heard at all; while they cannot, waits end after a tenth of a second.
  void set_listening(bool listening);

  Wake wait(Millis timeout);

 private:
  struct Counts {
    std::uint64_t work = 0;
    std::uint64_t control = 0;
    std::uint64_t interrupts = 0;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  bool listening_ = false;
  Counts counts_;
  std::map<std::thread::id, Counts> seen_;
};

}  // namespace holdfast::postgres
