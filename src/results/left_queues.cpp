#include "results/left_queues.hpp"

#include <algorithm>

namespace holdfast::results {

namespace {

constexpr Millis first_pause{1'000}, longest_pause{60'000};

}  // namespace

class LeftQueues::Turn {
 public:
  explicit Turn(LeftQueues& all) : all_{all} {}
  ~Turn() {
    std::lock_guard lock{all_.mutex_};
    --all_.at_it_;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  LeftQueues& all_;
};

bool LeftQueues::leave(Broker& broker, const std::string& queue, const WhyLeft& why, bool hurried) {
  check_trouble(queue);
  // Most queues are empty, and none of them waits for those that are not.
  const auto count = broker.messages(queue);
  if (!count) return true;
  if (*count == 0 && hurried) return broker.remove(queue), true;
  if (!begin()) return false;
  const Turn turn{*this};
  const auto began = Clock::now();
  try {
    const bool done = leave_queue(broker, queue, why, hurried);
    went_well(queue);
    return done;
  } catch (const QueueUnreadable& error) {
    failed(queue, error.what(), Clock::now() - began);
    throw;
  }
}

void LeftQueues::check_trouble(const std::string& queue) {
  std::lock_guard lock{mutex_};
  const auto now = Clock::now();
  // Of those that were not asked about again, nothing is remembered.
  std::erase_if(troubles_,
                [&](const auto& each) { return each.second.until + longest_pause < now; });
  if (auto at = troubles_.find(queue); at != troubles_.end() && now < at->second.until)
    throw QueueUnreadable{at->second.why};
}

bool LeftQueues::begin() {
  std::lock_guard lock{mutex_};
  if (!troubles_.empty() && (at_it_ > 0 || Clock::now() < rests_until_)) return false;
  ++at_it_;
  return true;
}

void LeftQueues::failed(const std::string& queue, const std::string& why, Clock::duration took) {
  std::lock_guard lock{mutex_};
  auto& trouble = troubles_[queue];
  trouble.why = why;
  trouble.pause = std::clamp(2 * trouble.pause, first_pause, longest_pause);
  const auto now = Clock::now();
  trouble.until = now + trouble.pause;
  rests_until_ = now + took;
}

void LeftQueues::went_well(const std::string& queue) {
  std::lock_guard lock{mutex_};
  troubles_.erase(queue);
}

}  // namespace holdfast::results
