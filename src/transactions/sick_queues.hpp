#pragma once

#include <map>
#include <mutex>
#include <string>

namespace holdfast {

/// The queues that a process cannot read now, for whoever looks at its worker. Safe to use from
/// many threads, and takes no other lock.
class SickQueues {
 public:
  void add(const std::string& queue, const std::string& why);
  void remove(const std::string& queue);
  /// What the worker tells, in a bounded number of entries.
  std::map<std::string, std::string> troubles() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> why_;
};

}  // namespace holdfast
