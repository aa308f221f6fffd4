// What a processor does while requests cannot begin in it.

#include <fmt/format.h>

#include "engines/sidekiq/processor_state.hpp"
#include "recovery/clock.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::http {

namespace {

/// All requests are of one kind.
const std::vector<std::string> kinds{request_kind};

}  // namespace

void SidekiqProcessor::State::could_not_begin(Held& held, const std::string& why) {
  KindBreaker::Opened opened;
  {
    std::lock_guard lock{mutex_};
    opened = breaker_.could_not_begin(request_kind, why, system_clock().steady());
  }
  held.ending = sidekiq::postpone(held.origin, opened.pause, std::chrono::system_clock::now());
  if (opened.counts)
    log(Severity::error,
        fmt::format("requests cannot begin here, and the next one is tried in {}: {}",
                    duration_text(opened.pause), why));
}

void SidekiqProcessor::State::has_begun() {
  bool well = false;
  {
    std::lock_guard lock{mutex_};
    well = breaker_.began(request_kind);
  }
  if (well) log(Severity::info, "requests can begin here again");
}

int SidekiqProcessor::State::room_to_begin(int room) const {
  std::lock_guard lock{mutex_};
  const auto claimable = breaker_.claimable(kinds, system_clock().steady());
  if (claimable.kinds.empty()) return 0;
  return claimable.single ? 1 : room;
}

std::optional<Millis> SidekiqProcessor::State::next_try() const {
  std::lock_guard lock{mutex_};
  const auto next = breaker_.next_try();
  if (!next) return {};
  return std::max(*next - system_clock().steady(), Millis{1});
}

void SidekiqProcessor::State::tried(bool got_one) {
  std::lock_guard lock{mutex_};
  breaker_.tried(request_kind, got_one, system_clock().steady());
}

bool SidekiqProcessor::State::is_hopeless() const {
  std::lock_guard lock{mutex_};
  return breaker_.hopeless(kinds, system_clock().steady());
}

}  // namespace holdfast::http
