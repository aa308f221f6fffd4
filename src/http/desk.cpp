#include "http/desk.hpp"

namespace holdfast::http {

void Desk::begin(int threads) {
  in_order_ = threads == 1;
  for (int i = 0; i < threads; ++i)
    threads_.emplace_back([this](std::stop_token stop) { run(std::move(stop)); });
}

void Desk::put(Work work) {
  {
    std::lock_guard lock{mutex_};
    work_.push_back(std::move(work));
    if (in_order_ && work_.size() > 1) return;
  }
  filled_.notify_one();
}

std::deque<Desk::Work> Desk::next(std::stop_token stop) {
  std::deque<Work> work;
  std::unique_lock lock{mutex_};
  if (!filled_.wait(lock, std::move(stop), [&] { return !work_.empty(); })) return work;
  if (in_order_) {
    work.swap(work_);
  } else {
    // One at a time: what stands behind it would wait for it while others are free.
    work.push_back(std::move(work_.front()));
    work_.pop_front();
  }
  return work;
}

void Desk::run(std::stop_token stop) {
  while (true) {
    const auto work = next(stop);  // gone before it waits for more: it may hold what was let go
    if (work.empty()) return;
    for (const auto& one : work) {
      try {
        one();
      } catch (const std::exception& error) {
        trouble_(error);
      }
    }
  }
}

void Desk::abandon() {
  std::deque<Work> rest;
  {
    std::lock_guard lock{mutex_};
    rest.swap(work_);
  }
  finish();
}

}  // namespace holdfast::http
