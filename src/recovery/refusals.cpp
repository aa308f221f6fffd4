#include "recovery/refusals.hpp"

#include <utility>

namespace holdfast {

namespace {

/// What was not refused for so long was taken back or settled; if it is refused again, that is
/// news.
constexpr Millis remembered_for{std::chrono::minutes{10}};
constexpr std::size_t most_refusals = 20'000;

}  // namespace

bool Refusals::is_news(const Lease& lease, Millis patience, Millis now) {
  std::lock_guard lock{mutex_};
  if (refused_.size() >= most_refusals && !refused_.contains(lease)) forget(now);
  auto& refused = refused_.try_emplace(lease, Refused{now, now}).first->second;
  if (now - refused.last > remembered_for) refused = {now, now};
  refused.last = now;
  return now - refused.first >= patience && !std::exchange(refused.reported, true);
}

bool Refusals::was_reported(const Lease& lease) const {
  std::lock_guard lock{mutex_};
  const auto found = refused_.find(lease);
  return found != refused_.end() && found->second.reported;
}

/// Rather say something twice than remember without a limit.
void Refusals::forget(Millis now) {
  std::erase_if(refused_, [&](const auto& one) { return now - one.second.last > remembered_for; });
  if (refused_.size() >= most_refusals) refused_.clear();
}

}  // namespace holdfast
