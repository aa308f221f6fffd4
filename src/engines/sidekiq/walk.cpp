#include "engines/sidekiq/walk.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace holdfast::sidekiq {

namespace {

constexpr int rests_for_each_walked = 4;
constexpr std::chrono::seconds shortest_between_walks{2};

}  // namespace

void Walk::begin(const std::function<bool(const std::string& host)>& has_room, Time now) {
  if (!wanted_.empty()) return;
  if (at_end_ && (passed_.empty() || now >= again_at_)) {
    *this = Walk{};
    return;
  }
  if (now < rests_until_) return;
  for (const auto& [host, place] : passed_)
    if (has_room(host)) wanted_.insert(host);
  if (wanted_.empty()) return;
  came_from_ = std::exchange(place_, 0);
  go_to_wanted();
}

/// There is nothing for them before.
void Walk::go_to_wanted() {
  auto first = std::numeric_limits<std::int64_t>::max();
  for (const auto& host : wanted_) first = std::min(first, passed_.at(host));
  place_ = std::max(place_, first);
}

std::vector<std::string> Walk::closed() const {
  std::vector<std::string> hosts;
  for (const auto& [host, place] : passed_)
    if (!wanted_.contains(host)) hosts.push_back(host);
  return hosts;
}

void Walk::stepped(const Step& step, Time now) {
  const bool went_back = !wanted_.empty();
  for (auto& [host, place] : passed_) place = std::max(std::min(place, place_), place - step.taken);
  for (const auto& [host, before] : step.hosts) {
    // Of one that was wanted, those before this have been taken.
    if (wanted_.erase(host) > 0) passed_.erase(host);
    passed_.try_emplace(host, place_ + before);
  }
  place_ += step.passed;
  at_end_ = step.at_end;
  if (again_at_ == Time{}) {
    took_ += step.took;
    if (at_end_)
      again_at_ = now + std::max<Duration>(rests_for_each_walked * took_, shortest_between_walks);
  }
  if (!went_back) return;
  back_took_ += step.took;
  came_from_ -= step.taken;
  if (at_end_ || place_ >= came_from_) {
    // Of those that are still wanted there is nothing left behind.
    for (const auto& host : std::exchange(wanted_, {})) passed_.erase(host);
    rest(now);
  } else if (wanted_.empty()) {
    place_ = came_from_;
    rest(now);
  } else {
    go_to_wanted();
  }
}

void Walk::rest(Time now) {
  rests_until_ = now + rests_for_each_walked * std::exchange(back_took_, Duration{0});
}

}  // namespace holdfast::sidekiq
