#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace holdfast::bench {

/// Nanoseconds on a clock that all processes of this machine share.
std::int64_t monotonic_ns();

/// What one task's handler notes: when it began, the first and the second time, and where.
struct Slot {
  std::atomic<int> starts;
  std::atomic<int> pid;
  std::array<std::atomic<std::int64_t>, 2> began_ns;
};

/// Memory that the bench and its worker processes share, by a file that all of them map.
struct Notices {
  std::atomic<int> enlisted;  ///< workers that are ready for work
  std::atomic<std::int64_t> completed;
  std::atomic<std::int64_t> run_ns;      ///< how long `Worker::run` took
  std::atomic<std::int64_t> peak_bytes;  ///< memory in use at its highest
  std::array<Slot, 4096> slots;
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

class Board {
 public:
  explicit Board(const std::string& file);  ///< made, filled with zeros, if it is not there
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  Notices* operator->() const { return notices_; }

 private:
  Notices* notices_ = nullptr;
};

}  // namespace holdfast::bench
