#include "engines/sqlite/writer.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <optional>

namespace holdfast::sqlite {

namespace {

/// A foreign connection may hold SQLite's lock for a while; a checkpoint must not wait as long for
/// readers, because everybody waits for the checkpoint.
constexpr int patience_ms = 30'000;
constexpr int checkpoint_patience_ms = 100;

int note_wal_size(void* pages, sqlite3*, const char*, int now) {
  *static_cast<int*>(pages) = now;
  return SQLITE_OK;
}

/// Holds the place in the line between processes, if there are other processes at all.
class Turn {
 public:
  explicit Turn(FairLock* lock) : lock_{lock} {
    if (lock_) lock_->acquire();
  }
  ~Turn() {
    if (lock_) lock_->release();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  FairLock* lock_;
};

}  // namespace

struct Writer::Job {
  KillPoints points;
  std::function<void(Connection&)> work;
  std::exception_ptr error{};
  bool leads = false;  ///< woken to commit for the others, not because it is done
  std::binary_semaphore woken{0};
};

Writer::Writer(std::unique_ptr<Connection> connection, std::unique_ptr<FairLock> lock,
               int large_wal_pages)
    : connection_{std::move(connection)},
      lock_{std::move(lock)},
      large_wal_pages_{large_wal_pages},
      checkpoint_at_{large_wal_pages} {
  sqlite3_wal_hook(connection_->handle(), note_wal_size, &wal_pages_);
}

void Writer::submit(KillPoints points, std::function<void(Connection&)> work) {
  Job job{points, std::move(work)};
  {
    std::unique_lock lock{mutex_};
    waiting_.push_back(&job);
    if (busy_) {
      lock.unlock();
      job.woken.acquire();
    } else {
      busy_ = true;
      job.leads = true;
    }
  }
  if (job.leads) lead(job);
  if (job.error) std::rethrow_exception(job.error);
}

void Writer::lead(Job& own) {
  std::vector<Job*> jobs;
  {
    std::lock_guard lock{mutex_};
    jobs.swap(waiting_);
  }
  commit_together(jobs);
  {
    std::lock_guard lock{mutex_};
    if (waiting_.empty()) {
      busy_ = false;
    } else {
      waiting_.front()->leads = true;
      waiting_.front()->woken.release();
    }
  }
  for (Job* job : jobs) {
    if (job != &own) job->woken.release();
  }
}

void Writer::commit_together(std::vector<Job*>& jobs) {
  std::optional<Turn> turn;
  try {
    turn.emplace(lock_.get());
  } catch (const StoreError&) {
    // Nobody else would tell the others, who sleep until they are told.
    for (Job* job : jobs) job->error = std::current_exception();
    return;
  }
  if (!try_commit(jobs) && jobs.size() > 1) {
    // One of them failed and took the others with it. Each on its own then, so that only the one
    // to blame is told.
    for (Job* job : jobs) {
      job->error = nullptr;
      std::vector<Job*> alone{job};
      try_commit(alone);
    }
  }
  checkpoint_if_large();
}

bool Writer::try_commit(std::vector<Job*>& jobs) {
  if (!storage_failed_) {
    try {
      run_in_transaction(jobs);
      return true;
    } catch (const StorageFailed&) {
      // After a failed write or sync nobody knows what is on disk, and trying again may seem to
      // work. This process writes no more; the next one recovers.
      storage_failed_ = std::current_exception();
    } catch (const std::exception&) {
      for (Job* job : jobs) job->error = std::current_exception();
      return false;
    }
  }
  for (Job* job : jobs) job->error = storage_failed_;
  return true;
}

void Writer::run_in_transaction(std::vector<Job*>& jobs) {
  try {
    connection_->use("BEGIN IMMEDIATE").run();
    for (Job* job : jobs) {
      job->work(*connection_);
      kill_point(job->points.before_commit);
    }
    connection_->use("COMMIT").run();
  } catch (const std::exception&) {
    if (!sqlite3_get_autocommit(connection_->handle())) {
      sqlite3_exec(connection_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
    throw;
  }
  for (Job* job : jobs) kill_point(job->points.after_commit);
}

void Writer::checkpoint_if_large() {
  if (!checkpoint_wanted_.exchange(false) && wal_pages_ < checkpoint_at_) return;
  // A reader may be in the way; then the next try comes when the WAL has grown by as much again.
  checkpoint_at_ = checkpoint_now() ? large_wal_pages_ : wal_pages_ + large_wal_pages_;
}

bool Writer::checkpoint_now() {
  kill_point(KillPoint::checkpoint_before);
  sqlite3_busy_timeout(connection_->handle(), checkpoint_patience_ms);
  // RESTART holds SQLite's writer lock throughout, and our turn keeps every other writer of ours
  // out: this version of SQLite can lose pages when another connection restarts the WAL between
  // two checkpoints.
  int code = sqlite3_wal_checkpoint_v2(connection_->handle(), "main", SQLITE_CHECKPOINT_RESTART,
                                       nullptr, nullptr);
  sqlite3_busy_timeout(connection_->handle(), patience_ms);
  kill_point(KillPoint::checkpoint_after);
  if (code == SQLITE_OK) wal_pages_ = 0;
  if (is_storage_failure(connection_->handle(), code)) stop_writing(code);
  return code == SQLITE_OK;
}

void Writer::stop_writing(int code) {
  // What was committed is in the WAL and stays there. But once a sync of the database has failed,
  // the next one may succeed without having written anything, and then the WAL, the only good
  // copy, would be started anew.
  try {
    throw_sqlite_error(connection_->handle(), code, "copying the write-ahead log into it");
  } catch (const StorageFailed&) {
    storage_failed_ = std::current_exception();
  }
}

void Writer::checkpoint() {
  // Queued like a write, so that it never runs beside one; an empty one, because SQLite refuses to
  // checkpoint inside a transaction.
  checkpoint_wanted_ = true;
  submit({KillPoint::checkpoint_before, KillPoint::checkpoint_before}, [](Connection&) {});
}

}  // namespace holdfast::sqlite
