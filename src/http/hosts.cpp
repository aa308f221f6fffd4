#include "http/hosts.hpp"

#include <algorithm>

namespace holdfast::http {

namespace {

/// Hosts that nobody talks to and nothing is known about are forgotten beyond this number.
constexpr std::size_t most_remembered = 10'000;

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
  }
  ++host.inside;
  return Entry::go;
}

int Hosts::failures(const Origin& origin) const {
  auto at = hosts_.find(origin);
  return at == hosts_.end() ? 0 : at->second.failures;
}

Millis Hosts::closed_for(const Origin& origin, Millis now) const {
  auto at = hosts_.find(origin);
  return at == hosts_.end() ? Millis{0} : std::max(at->second.closed_until - now, Millis{0});
}

void Hosts::resolved(const Origin& origin, Millis now) {
  auto& host = hosts_[origin];
  host.resolving = false;
  host.resolved_until = now + dns_cache_;
}

void Hosts::turn_back(const Origin& origin) {
  auto& host = hosts_[origin];
  --host.inside;
  host.resolving = false;
}

void Hosts::leave(const Origin& origin, bool failed, Millis now) {
  turn_back(origin);
  auto& host = hosts_[origin];
  if (!failed) {
    host.failures = 0;
  } else if (++host.failures >= breaker_.failures && breaker_.failures > 0) {
    host.closed_until = now + breaker_.pause;
  }
  if (hosts_.size() > most_remembered)
    std::erase_if(hosts_, [&](const auto& entry) {
      return entry.second.inside == 0 && now >= entry.second.closed_until;
    });
}

}  // namespace holdfast::http
