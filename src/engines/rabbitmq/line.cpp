#include "engines/rabbitmq/line.hpp"

#include <algorithm>

namespace holdfast::rabbitmq {

namespace {

/// A failure that took longer than this is the queue's; a shorter one may be that of the
/// connection.
constexpr Millis long_time{2'000};
/// For the end of another call about the same queue.
constexpr Millis longest_wait{2'000};
constexpr Millis first_retry{500}, longest_retry{30'000};
constexpr std::size_t most_troubles = 10'000;

}  // namespace

Lines::Running::Running(Lines& all, const std::string& about) : lines{all}, queue{about} {
  std::unique_lock lock{lines.mutex_};
  const auto is_first = [&] { return queue.empty() || !lines.running_.contains(queue); };
  if (!lines.ended_.wait_for(lock, longest_wait, is_first))
    throw BrokerError{fmt::format("queue '{}' has not answered yet", queue)};
  lines.running_.insert(queue);
  began = Clock::now();
}

Lines::Running::~Running() {
  std::lock_guard lock{lines.mutex_};
  lines.running_.erase(queue);
  lines.ended_.notify_all();
}

std::string Lines::trouble_of(const std::string& queue) {
  std::lock_guard lock{mutex_};
  auto at = troubles_.find(queue);
  if (at == troubles_.end()) return {};
  if (Clock::now() < at->second.until) throw BrokerError{at->second.why};
  return at->second.why;
}

Line& Lines::free_line() {
  std::lock_guard lock{mutex_};
  for (std::size_t i = 0; i + 1 < lines_.size(); ++i)
    if (auto taken = lines_[i].try_lock()) return lines_[i];
  return lines_[next_++ % (lines_.size() - 1)];
}

void Lines::went_well(const std::string& queue) {
  std::lock_guard lock{mutex_};
  troubles_.erase(queue);
}

void Lines::failed(const std::string& queue, const std::string& why, Clock::duration took) {
  std::lock_guard lock{mutex_};
  if (queue.empty() || (took < long_time && !troubles_.contains(queue))) return;
  if (troubles_.size() > most_troubles) troubles_.clear();
  auto& trouble = troubles_[queue];
  trouble.why = fmt::format("queue '{}' does not answer: {}", queue, why);
  trouble.pause = std::clamp(2 * trouble.pause, first_retry, longest_retry);
  trouble.until = Clock::now() + trouble.pause;
}

}  // namespace holdfast::rabbitmq
