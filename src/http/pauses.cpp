#include "http/pauses.hpp"

#include <utility>

namespace holdfast::http {

void Pauses::begin() {
  {
    std::lock_guard lock{mutex_};
    begun_ = true;
  }
  thread_ = std::jthread{[this](std::stop_token stop) { run(std::move(stop)); }};
}

void Pauses::put(std::chrono::milliseconds pause, Work work) {
  {
    std::lock_guard lock{mutex_};
    if (!begun_) return;
    work_.emplace(Clock::now() + pause, std::move(work));
  }
  changed_.notify_one();
}

void Pauses::end() {
  std::multimap<Clock::time_point, Work> rest;
  {
    std::lock_guard lock{mutex_};
    begun_ = false;
    rest.swap(work_);
  }
  thread_ = {};
}

void Pauses::run(std::stop_token stop) {
  std::unique_lock lock{mutex_};
  while (!stop.stop_requested()) {
    if (work_.empty()) {
      changed_.wait(lock, stop, [&] { return !work_.empty(); });
      continue;
    }
    const auto due = work_.begin()->first;
    const auto is_sooner = [&] { return work_.empty() || work_.begin()->first < due; };
    if (changed_.wait_until(lock, stop, due, is_sooner) || stop.stop_requested()) continue;
    auto first = work_.extract(work_.begin());
    lock.unlock();
    first.mapped()();
    first = {};
    lock.lock();
  }
}

}  // namespace holdfast::http
