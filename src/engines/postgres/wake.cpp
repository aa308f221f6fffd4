#include "engines/postgres/wake.hpp"

#include <chrono>

namespace holdfast::postgres {

namespace {

constexpr Millis poll_pause{100};

}  // namespace

void News::work() {
  std::lock_guard lock{mutex_};
  ++counts_.work;
  changed_.notify_all();
}

void News::control() {
  std::lock_guard lock{mutex_};
  ++counts_.control;
  changed_.notify_all();
}

void News::interrupt() {
  std::lock_guard lock{mutex_};
  ++counts_.interrupts;
  changed_.notify_all();
}

void News::set_listening(bool listening) {
  std::lock_guard lock{mutex_};
  listening_ = listening;
}

Wake News::wait(Millis timeout) {
  auto begin = std::chrono::steady_clock::now();
  auto deadline = begin + timeout;
  std::unique_lock lock{mutex_};
  auto& seen = seen_[std::this_thread::get_id()];
  for (;;) {
    if (seen.interrupts != counts_.interrupts) {
      seen.interrupts = counts_.interrupts;
      return Wake::nothing;
    }
    if (seen.control != counts_.control) {
      seen.control = counts_.control;
      return Wake::control;
    }
    if (seen.work != counts_.work) {
      seen.work = counts_.work;
      return Wake::work;
    }
    auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return Wake::nothing;
    if (!listening_ && now >= begin + poll_pause) return Wake::work;
    changed_.wait_until(lock, listening_ ? deadline : std::min(deadline, begin + poll_pause));
  }
}

}  // namespace holdfast::postgres
