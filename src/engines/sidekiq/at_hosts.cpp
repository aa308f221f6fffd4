#include "engines/sidekiq/at_hosts.hpp"

#include "http/lines.hpp"

namespace holdfast::sidekiq {

AtHosts::AtHosts(int capacity, int per_host)
    : per_host_{per_host},
      most_waiting_{capacity},
      line_{static_cast<int>(http::Lines::most_of_one(static_cast<std::size_t>(capacity)))} {}

void AtHosts::came(const std::string& host) {
  ++in_hand_;
  if (per_host_ > 0 && !host.empty() && ++counts_[host] > per_host_) ++waiting_;
}

void AtHosts::went(const std::string& host) {
  --in_hand_;
  auto at = counts_.find(host);
  if (at == counts_.end()) return;
  if (at->second-- > per_host_) --waiting_;
  if (at->second == 0) counts_.erase(at);
}

bool AtHosts::wants_more(const std::string& host) const {
  auto at = counts_.find(host);
  if (at == counts_.end() || at->second < per_host_) return true;
  auto half = (line_ + 1) / 2;
  return room_to_wait() >= half && at->second - per_host_ < half;
}

}  // namespace holdfast::sidekiq
