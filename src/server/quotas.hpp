#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "server/buckets.hpp"
#include "server/token.hpp"

namespace holdfast::server {

/// Keeps programs within the quotas of their tokens. What a check costs does not grow with the
/// number of tasks: tasks a minute are a bucket in memory, and how many wait is what the store
/// counts for each queue anyway, asked at most once a second. So what others enqueue into the same
/// queues counts after a second at the latest, and a server that was started again begins with full
/// buckets. Safe to use from many threads.
class Quotas {
 public:
  /// What a request takes. It is given back unless the tasks were enqueued.
  class Taken {
   public:
    Taken(Quotas& quotas, const ProgramToken& token, std::string store, int tasks)
        : quotas_{quotas}, token_{token}, store_{std::move(store)}, tasks_{tasks} {}
    ~Taken() { quotas_.end(token_, store_, tasks_, kept_); }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    void keep() { kept_ = true; }

   private:
    Quotas& quotas_;
    const ProgramToken& token_;
    std::string store_;
    int tasks_;
    bool kept_ = false;
  };

  /// Throws `Problem` 429 if so many more tasks are over a quota now, and 400 if they always are.
  /// Nothing: the token has no quota. It must outlive what is returned.
  std::unique_ptr<Taken> take(const ProgramToken& token, const Engine& engine, std::size_t tasks);

 private:
  struct Tasks {
    std::int64_t being_enqueued = 0;
    std::int64_t enqueued = 0;  ///< since the store was asked
  };
  struct Store {
    std::mutex mutex{};  ///< held while the store is asked: it keeps those only who ask for it
    std::optional<Millis> asked{};
    std::vector<QueueStatus> queues{};
    std::map<std::string, Tasks> of_token{};  ///< by fingerprint
  };

  Store& store(const std::string& name);
  void end(const ProgramToken& token, const std::string& store, int tasks, bool kept);

  Buckets rates_;
  std::mutex mutex_;
  std::map<std::string, Store> stores_;
};

}  // namespace holdfast::server
