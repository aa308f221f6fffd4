#include "tasks/kind_breaker.hpp"

#include <algorithm>

namespace holdfast {

KindBreaker::Opened KindBreaker::could_not_begin(const std::string& kind, const std::string& why,
                                                 Millis now) {
  auto [at, first] = open_.try_emplace(kind);
  auto& open = at->second;
  if (first) open.since = now;
  // What was claimed before the first failure fails in the same moment, and says nothing new.
  const bool counts = first || open.trying || now >= open.until;
  if (counts) {
    open.pause = first ? first_pause : std::min(open.pause * 2, longest_pause);
    open.until = now + open.pause;
  }
  open.trying = false;
  open.why = why;
  return {counts, open.pause};
}

bool KindBreaker::began(const std::string& kind) { return open_.erase(kind) > 0; }

KindBreaker::Claimable KindBreaker::claimable(const std::vector<std::string>& kinds,
                                              Millis now) const {
  Claimable found;
  for (const auto& kind : kinds) {
    const auto open = open_.find(kind);
    if (open == open_.end())
      found.kinds.push_back(kind);
    else if (now >= open->second.until)
      return {{kind}, true};
  }
  return found;
}

void KindBreaker::tried(const std::string& kind, bool got_one, Millis now) {
  const auto open = open_.find(kind);
  if (open == open_.end()) return;
  open->second.trying = got_one;
  open->second.until = now + open->second.pause;
}

std::optional<Millis> KindBreaker::next_try() const {
  std::optional<Millis> next;
  for (const auto& [kind, open] : open_) next = std::min(next.value_or(open.until), open.until);
  return next;
}

std::map<std::string, std::string> KindBreaker::reasons() const {
  std::map<std::string, std::string> reasons;
  for (const auto& [kind, open] : open_) reasons[kind] = open.why;
  return reasons;
}

bool KindBreaker::hopeless(const std::vector<std::string>& kinds, Millis now) const {
  return !kinds.empty() && std::ranges::all_of(kinds, [&](const auto& kind) {
    const auto open = open_.find(kind);
    return open != open_.end() && !open->second.trying && now - open->second.since >= patience;
  });
}

}  // namespace holdfast
