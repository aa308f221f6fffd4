#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engines/postgres/link.hpp"
#include "recovery/group_commit.hpp"
#include "recovery/kill_point.hpp"
#include "tasks/task_store.hpp"
#include "transactions/transaction_store.hpp"

namespace holdfast::postgres {

/// A writing connection of this process. Threads that write at the same time share a commit, and
/// those who insert tasks or take steps of transactions share statements, too.
///
/// A connection that breaks, or a transaction that gave way to another, is nothing that a caller
/// hears of as long as the server comes back soon: the work is done again. If the connection breaks
/// while the server commits, the server is asked afterwards what became of that transaction; one
/// that was started anew meanwhile cannot tell.
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
      Job job{points, [&](Connection& db) { work(db); }};
      submit(job);
    } else {
      Result result{};
      Job job{points, [&](Connection& db) { result = work(db); }};
      submit(job);
      return result;
    }
  }

  /// The same as `write` with `insert_tasks`, which for many at a time is one trip to the server
  /// instead of one for each.
  std::vector<Inserted> insert(KillPoints points, std::span<const NewTask> tasks);
  /// The same with `take_steps`.
  std::vector<Stepped> step(KillPoints points, std::span<const Step> steps);

 private:
  struct Job {
    KillPoints points;
    std::function<void(Connection&)> work{};  ///< nothing: insert or take these
    std::span<const NewTask> tasks{};
    std::vector<Inserted> inserted{};
    std::span<const Step> steps{};
    std::vector<Stepped> stepped{};
    std::exception_ptr error{};
  };
  using Jobs = GroupCommit<Job>::Jobs;
  enum class Fate { committed, not_committed, unknown };
  void submit(Job& job);
  bool try_commit(const Jobs& jobs);
  void run_in_transaction(const Jobs& jobs);
  void commit(Connection& db);
  Fate fate_of(std::int64_t transaction, const std::string& run);
  void roll_back();

  Link link_;  // touched by the leader only
  GroupCommit<Job> group_;
};

/// Of what takes tasks and transactions from one store to another.
inline constexpr Writer::KillPoints move_points{KillPoint::move_before_commit,
                                                KillPoint::move_after_commit};

}  // namespace holdfast::postgres
