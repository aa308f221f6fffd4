#pragma once

#include <map>
#include <mutex>
#include <string>

#include "server/problem.hpp"
#include "tasks/token_bucket.hpp"

namespace holdfast::server {

/// How often something may be done, for each credential. What is in a bucket is in memory only: it
/// is full when the server starts. Safe to use from many threads.
class Buckets {
 public:
  /// How long until so many can be taken; zero: they were taken. `now` is steady.
  Millis take(const std::string& credential, const Rate& rate, int count, Millis now);
  /// They were not needed after all.
  void put_back(const std::string& credential, const Rate& rate, int count, Millis now);

 private:
  std::map<std::string, TokenBucket>::iterator find(const std::string& credential, const Rate& rate,
                                                    WallTime now);

  std::mutex mutex_;
  std::map<std::string, TokenBucket> buckets_;
};

/// The answer to a caller who is to come back later.
Problem wait_for(std::string_view code, const std::string& detail, Millis wait);

}  // namespace holdfast::server
