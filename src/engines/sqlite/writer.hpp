#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engines/sqlite/commit_mark.hpp"
#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/file_lock.hpp"
#include "recovery/group_commit.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::sqlite {

/// The one writing connection of this process. Threads that write at the same time share a commit.
/// Processes queue fairly on a file lock before SQLite's own, which would sleep and poll.
class Writer {
 public:
  /// Where `killed` tests may die around this write.
  struct KillPoints {
    KillPoint before_commit;
    KillPoint after_commit;
  };

  struct Parts {
    std::unique_ptr<Connection> connection;
    std::unique_ptr<FairLock> lock;
    CommitNotes notes;
    /// The WAL is copied into the database when it has grown so large.
    int large_wal_pages = 0;
    /// Left in the store by the first write, so that the next one to open it sees if nobody closed
    /// it.
    std::string mark{};
    /// Told why the WAL could not be copied. That is not fatal: it is tried again.
    std::function<void(const std::string& why)> on_checkpoint_trouble{};
    /// Asked when there is no room for a commit; true: there is some now.
    std::function<bool()> make_room{};
    /// Told what was found to be damaged, before every write throws `StoreDamaged`.
    std::function<void(const std::string& what)> on_damage{};
  };
  explicit Writer(Parts parts);
  /// Writes nothing: every try throws `StoreReadOnly` with the reason.
  explicit Writer(std::string why_read_only);
  bool is_read_only() const { return !connection_; }

  /// Runs `work(Connection&)` in a transaction and returns its result when it is committed. If it
  /// throws, nothing of it is written. It may be run a second time (when another write in the same
  /// commit failed), so it must not change anything but the database and its result, and must start
  /// from scratch each time.
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

  /// Copies the WAL into the database and starts it anew. Happens by itself when the WAL has grown.
  void checkpoint();

  /// To be called by the last one to close the store: takes the mark away. If that fails, the next
  /// start-up looks more closely than it need.
  void close_properly();

 private:
  struct Job {
    KillPoints points;
    std::function<void(Connection&)> work;
    std::exception_ptr error{};
  };
  using Jobs = GroupCommit<Job>::Jobs;
  void submit(KillPoints points, std::function<void(Connection&)> work);
  void commit_together(const Jobs& jobs);
  bool try_commit(const Jobs& jobs);
  void run_in_transaction(const Jobs& jobs);
  void write_and_commit(const Jobs& jobs);
  void commit();
  /// Ends a transaction that was left open by a failure; false if it cannot be done yet.
  bool roll_back();
  void checkpoint_if_large();
  void checkpoint_now();
  void copy_log();
  void stop_writing(int code);
  void leave_mark();

  std::unique_ptr<Connection> connection_;
  std::unique_ptr<FairLock> lock_;
  std::optional<CommitNotes> notes_{};
  GroupCommit<Job> group_;
  const int large_wal_pages_ = 0;
  const std::string mark_{};
  const std::function<void(const std::string& why)> on_checkpoint_trouble_{};
  const std::function<bool()> make_room_{};
  const std::function<void(const std::string& what)> on_damage_{};
  const std::string why_read_only_{};
  // Touched by the leader only.
  bool marked_ = false;
  struct Log {
    int pages = 0;
    bool grew = false;  // by the commit at hand
  } log_{};
  int pages_before_ = 0;
  int checkpoint_at_ = 0;
  std::exception_ptr storage_failed_{};
  std::atomic<bool> checkpoint_wanted_ = false;
};

/// Of what takes tasks and transactions from one store to another.
inline constexpr Writer::KillPoints move_points{KillPoint::move_before_commit,
                                                KillPoint::move_after_commit};

}  // namespace holdfast::sqlite
