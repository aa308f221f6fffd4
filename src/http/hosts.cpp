#include "http/hosts.hpp"

#include <algorithm>

namespace holdfast::http {

namespace {

/// Hosts that nobody talks to and nothing is known about are forgotten beyond this number.
constexpr std::size_t most_remembered = 10'000;
/// Others wait together for so long.
constexpr Millis quick_lookup{1'000};
/// Where connections are used again, others take it for granted for so long that theirs is, too.
constexpr Millis good_connection{1'000};
/// Who finds no place stays away for so long at least and at most.
constexpr Millis shortest_turn{20}, longest_turn{300'000};
/// So long after one the next comes at the latest, however slow the host is: it may become quicker,
/// and looking costs little.
constexpr std::chrono::duration<double, std::milli> longest_between{100};
/// How long others wait for the one that shows how a host is.
constexpr Millis time_to_show{2'000};

}  // namespace

Hosts::Entry Hosts::enter(const Origin& origin, Millis now) {
  auto& host = hosts_[origin];
  if (now < host.closed_until) return Entry::closed;
  bool half_open = breaker_.failures > 0 && host.failures >= breaker_.failures;
  // One shows how it is; the others wait for that.
  if (half_open && host.inside > 0) return Entry::wait;
  if (per_host_ > 0 && host.inside >= per_host_) return Entry::wait;
  if (!origin.is_address && now >= host.resolved_until) {
    if (host.resolving) return Entry::wait;
    host.resolving = true;
    host.resolving_since = now;
  }
  if (host.inside == 0) host.since = now;
  ++host.inside;
  return Entry::go;
}

bool Hosts::is_resolving(const Origin& origin, Millis now) const {
  auto at = hosts_.find(origin);
  return at != hosts_.end() && at->second.resolving &&
         now - at->second.resolving_since < quick_lookup;
}

Millis Hosts::next_turn(const Origin& origin, Millis now) {
  auto& host = hosts_[origin];
  // One that takes longer than all before it tells more than these.
  auto takes = std::max(host.takes, Fine{now - host.since});
  auto between = std::min(takes / std::max(per_host_, 1) / 2, longest_between);
  host.turn = std::clamp(host.turn + between, Fine{now + shortest_turn}, Fine{now + longest_turn});
  return std::chrono::ceil<Millis>(host.turn - now);
}

int Hosts::failures(const Origin& origin) const {
  auto at = hosts_.find(origin);
  return at == hosts_.end() ? 0 : at->second.failures;
}

Millis Hosts::closed_for(const Origin& origin, Millis now) const {
  auto at = hosts_.find(origin);
  return at == hosts_.end() ? Millis{0} : std::max(at->second.closed_until - now, Millis{0});
}

std::optional<Millis> Hosts::patience_left(const Origin& origin, Millis patience,
                                           Millis now) const {
  auto at = hosts_.find(origin);
  if (at == hosts_.end() || breaker_.failures == 0) return {};
  const auto& host = at->second;
  if (host.failures < breaker_.failures) return {};
  const auto left = patience - (now - host.down_since);
  if (now < host.closed_until) return left;
  return std::max(left, time_to_show - (host.inside > 0 ? now - host.since : Millis{0}));
}

std::string Hosts::last_error(const Origin& origin) const {
  auto at = hosts_.find(origin);
  return at == hosts_.end() ? std::string{} : at->second.last_error;
}

void Hosts::resolved(const Origin& origin, Millis now) {
  auto& host = hosts_[origin];
  host.resolving = false;
  host.resolved_until = now + dns_cache_;
}

void Hosts::connected(const Origin& origin, Millis now) {
  auto& host = hosts_[origin];
  host.resolving = false;
  host.resolved_until = std::max(host.resolved_until, now + std::min(dns_cache_, good_connection));
}

void Hosts::turn_back(const Origin& origin) {
  auto& host = hosts_[origin];
  --host.inside;
  host.resolving = false;
}

void Hosts::leave(const Origin& origin, bool failed, Millis entered, Millis now,
                  const std::string& why) {
  auto& host = hosts_[origin];
  --host.inside;
  host.resolving = false;
  const Fine took = now - entered;
  host.takes = host.takes == Fine{0} ? took : 0.75 * host.takes + 0.25 * took;
  host.since = now;
  host.last_error = why;
  if (!failed) {
    host.failures = 0;
  } else if (++host.failures >= breaker_.failures && breaker_.failures > 0) {
    if (host.failures == breaker_.failures) host.down_since = now;
    host.closed_until = now + breaker_.pause;
  }
  if (hosts_.size() > most_remembered)
    std::erase_if(hosts_, [&](const auto& entry) {
      return entry.second.inside == 0 && now >= entry.second.closed_until;
    });
}

}  // namespace holdfast::http
