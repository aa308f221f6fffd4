#pragma once

#include <map>
#include <string>

namespace holdfast::sidekiq {

/// The requests that a process has in hand, by host. So many of one host are sent at once; others
/// are taken ahead and wait for that, so that a place is taken again at once. Those who wait do not
/// count as in flight, and there are as many as may be in flight at most, a quarter of them for one
/// host.
class AtHosts {
 public:
  AtHosts() = default;  ///< without a limit, and then hosts do not matter
  /// `per_host` 0: the same.
  AtHosts(int capacity, int per_host);

  /// An empty host is one that is not known; its requests do not wait.
  void came(const std::string& host);
  void went(const std::string& host);

  int in_flight() const { return in_hand_ - waiting_; }
  int waiting() const { return waiting_; }

  int per_host() const { return per_host_; }
  int line() const { return line_; }  ///< so many may wait for one host
  int room_to_wait() const { return most_waiting_ - waiting_; }
  const std::map<std::string, int>& counts() const { return counts_; }
  /// Whether it is time to look for more of them: a place is free, or half of the line.
  bool wants_more(const std::string& host) const;

 private:
  int per_host_ = 0, most_waiting_ = 0, line_ = 0;
  int in_hand_ = 0, waiting_ = 0;
  std::map<std::string, int> counts_;
};

}  // namespace holdfast::sidekiq
