#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <holdfast/events.hpp>

#include "traces/span.hpp"

namespace holdfast {

/// Makes spans of what is told about tasks, and keeps them until they are sent: so many, and no
/// more. Safe to use from many threads.
class SpanBook {
 public:
  explicit SpanBook(std::size_t most_waiting) : most_waiting_{most_waiting} {}

  /// False: an attempt has ended, and there was no room for its span.
  bool hear(const TaskChanged& event);
  /// Its end will not be told: another worker has the task.
  void forget(TaskId task);
  /// The oldest ones. They stay until they are taken out.
  std::vector<AttemptSpan> first(std::size_t count) const;
  void take_out(std::size_t count);
  std::size_t waiting() const;

 private:
  struct Begun {
    Token token{};
    WallTime at{};
  };

  std::size_t most_waiting_;
  mutable std::mutex mutex_;
  std::unordered_map<TaskId, Begun> begun_;
  std::deque<AttemptSpan> waiting_;
};

}  // namespace holdfast
