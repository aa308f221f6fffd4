#include "traces/span_book.hpp"

#include <algorithm>

namespace holdfast {

namespace {

/// Attempts in hand: a worker has a few thousand at the most. Only those whose end nobody tells
/// could make it more.
constexpr std::size_t most_begun = 100'000;

}  // namespace

bool SpanBook::hear(const TaskChanged& event) {
  const auto& step = event.transition;
  std::lock_guard lock{mutex_};
  if (step.to == TaskState::running) {
    if (begun_.size() >= most_begun) begun_.clear();
    begun_[event.id] = {step.token, step.at};
    return true;
  }
  if (step.from != TaskState::running) return true;
  const auto begun = begun_.find(event.id);
  if (begun == begun_.end()) return true;  // begun by another process, such as one that died
  AttemptSpan span{.task = event.id,
                   .kind = event.kind,
                   .token = begun->second.token,
                   .attempt = step.attempt,
                   .began = begun->second.at,
                   .ended = std::max(step.at, begun->second.at),
                   .now = step.to,
                   .reason = step.reason};
  begun_.erase(begun);
  if (waiting_.size() >= most_waiting_) return false;
  waiting_.push_back(std::move(span));
  return true;
}

void SpanBook::forget(TaskId task) {
  std::lock_guard lock{mutex_};
  begun_.erase(task);
}

std::vector<AttemptSpan> SpanBook::first(std::size_t count) const {
  std::lock_guard lock{mutex_};
  const auto end = static_cast<std::ptrdiff_t>(std::min(count, waiting_.size()));
  return {waiting_.begin(), waiting_.begin() + end};
}

void SpanBook::take_out(std::size_t count) {
  std::lock_guard lock{mutex_};
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
}

std::size_t SpanBook::waiting() const {
  std::lock_guard lock{mutex_};
  return waiting_.size();
}

}  // namespace holdfast
