#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <semaphore>
#include <utility>
#include <vector>

#include "engines/postgres/link.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::postgres {

/// The one writing connection of this process. Threads that write at the same time share a commit:
/// the first becomes the leader and commits for all who came meanwhile.
///
/// A connection that breaks, or a transaction that gave way to another, is nothing that a caller
/// hears of as long as the server comes back soon: the work is done again. If the connection breaks
/// while the server commits, the server is asked afterwards what became of that transaction.
class Writer {
 public:
  /// Where `killed` tests may die around this write.
  struct KillPoints {
    KillPoint before_commit;
    KillPoint after_commit;
  };

  Writer(std::shared_ptr<const Dialect> dialect, Durability durability)
      : link_{std::move(dialect), durability, Connection::Purpose::steps} {}

  /// Runs `work(Connection&)` in a transaction and returns its result when it is committed. If it
  /// throws, nothing of it is written. It may be run several times, so it must not change anything
  /// but the database and its result, and must start from scratch each time.
  template <class F>
  auto write(KillPoints points, F work) {
    using Result = decltype(work(std::declval<Connection&>()));
    if constexpr (std::is_void_v<Result>) {
      submit(points, [&](Connection& db) { work(db); });
    } else {
      Result result{};
      submit(points, [&](Connection& db) { result = work(db); });
      return result;
    }
  }

 private:
  struct Job;
  enum class Fate { committed, not_committed, unknown };
  void submit(KillPoints points, std::function<void(Connection&)> work);
  void lead(Job& own);
  bool try_commit(const std::vector<Job*>& jobs);
  void run_in_transaction(const std::vector<Job*>& jobs);
  void commit(Connection& db);
  Fate fate_of(std::int64_t transaction);
  void roll_back();

  Link link_;  // touched by the leader only
  std::mutex mutex_;
  std::vector<Job*> waiting_;
  bool busy_ = false;
};

}  // namespace holdfast::postgres
