#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast::http {

/// Work for threads of its own, because it may wait for something that those who ask for it must
/// not wait for. With one thread it is done in order. Safe to use from many threads.
class Desk {
 public:
  using Work = std::function<void()>;
  /// `trouble` is told what a piece of work threw; the others go on.
  explicit Desk(std::function<void(const std::exception&)> trouble)
      : trouble_{std::move(trouble)} {}
  ~Desk() { finish(); }

  void begin(int threads);
  void put(Work work);
  /// Does what is there, and ends.
  void finish() { threads_.clear(); }
  /// Ends with what has been begun; the rest is let go of.
  void abandon();

 private:
  void run(std::stop_token stop);
  std::deque<Work> next(std::stop_token stop);  ///< none: it is the end

  std::function<void(const std::exception&)> trouble_;
  std::mutex mutex_;  // guards the one below
  std::deque<Work> work_;
  std::condition_variable_any filled_;
  bool in_order_ = true;
  std::vector<std::jthread> threads_;
};

}  // namespace holdfast::http
