#pragma once

#include <set>
#include <string>

#include "batches/original_worker.hpp"
#include "engines/redis/connection.hpp"

namespace holdfast::test {

/// What a worker of the services that we share the tables of batches with says in Redis and asks
/// there: the same commands with the same keys.
class OriginalLiveness {
 public:
  OriginalLiveness(const std::string& address, std::string instance);

  void beat(std::chrono::milliseconds believed = std::chrono::seconds{60});
  void track(const OriginalWorker::Row& row,
             std::chrono::milliseconds believed = std::chrono::seconds{180});
  void untrack(const OriginalWorker::Row& row);
  /// Queues the rows of everybody whose heartbeat is gone; returns how many of those there were.
  int recover(OriginalWorker& database);

  bool is_alive(const std::string& instance);
  std::set<std::string> registry();
  std::set<std::string> rows_of(const std::string& instance);

  /// `STATUS`, `SUMMARY`, `RESULT` or `OUTFILES` of a batch; empty: it is not there.
  std::string cached(const std::string& batch, const std::string& what);
  std::int64_t seconds_left(const std::string& batch, const std::string& what);
  void cache_status(const std::string& batch, const std::string& status);

 private:
  redis::Reply call(const redis::Command& command);
  std::set<std::string> members(const std::string& key);

  std::string instance_;
  redis::Connection redis_;
};

}  // namespace holdfast::test
