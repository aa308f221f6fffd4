#include "engines/sqlite/writer.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <optional>

namespace holdfast::sqlite {

namespace {

/// A foreign connection may hold SQLite's lock for a while; a checkpoint must not wait as long for
/// it as a write, because everybody waits for the checkpoint.
constexpr int checkpoint_patience_ms = 100;
constexpr int closing_patience_ms = 100;

/// An open transaction locks everybody out, so ending it must work when nothing else does: it is
/// prepared while there is memory for it.
constexpr std::string_view roll_back_sql = "ROLLBACK";

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

Writer::Writer(Parts parts)
    : connection_{std::move(parts.connection)},
      lock_{std::move(parts.lock)},
      notes_{std::move(parts.notes)},
      large_wal_pages_{parts.large_wal_pages},
      mark_{std::move(parts.mark)},
      on_checkpoint_trouble_{std::move(parts.on_checkpoint_trouble)},
      make_room_{std::move(parts.make_room)},
      on_damage_{std::move(parts.on_damage)},
      checkpoint_at_{large_wal_pages_} {
  auto note_size = [](void* log, sqlite3*, const char*, int now) {
    *static_cast<Log*>(log) = {now, true};
    return SQLITE_OK;
  };
  sqlite3_wal_hook(connection_->handle(), note_size, &log_);
  connection_->use(roll_back_sql);
}

Writer::Writer(std::string why_read_only) : why_read_only_{std::move(why_read_only)} {}

void Writer::submit(KillPoints points, std::function<void(Connection&)> work) {
  if (!connection_) throw StoreReadOnly{why_read_only_};
  Job job{points, std::move(work)};
  group_.submit(job, [this](const Jobs& jobs) { commit_together(jobs); });
}

void Writer::commit_together(const Jobs& jobs) {
  std::optional<Turn> turn;
  try {
    turn.emplace(lock_.get());
  } catch (const StoreError&) {
    // Nobody else would tell the others, who sleep until they are told.
    for (Job* job : jobs) job->error = std::current_exception();
    return;
  }
  GroupCommit<Job>::together_or_each(jobs, [this](const Jobs& some) { return try_commit(some); });
  checkpoint_if_large();
}

bool Writer::try_commit(const Jobs& jobs) {
  if (!storage_failed_) {
    try {
      run_in_transaction(jobs);
      return true;
    } catch (const StorageFailed&) {
      // After a failed write or sync nobody knows what is on disk, and trying again may seem to
      // work. This process writes no more; the next one recovers.
      storage_failed_ = std::current_exception();
    } catch (const StoreUnusable& damage) {
      // More writes could make it worse.
      if (on_damage_) on_damage_(damage.what());
      storage_failed_ = std::make_exception_ptr(StoreDamaged{damage.what()});
    } catch (const std::exception&) {
      for (Job* job : jobs) job->error = std::current_exception();
      return false;
    }
  }
  for (Job* job : jobs) job->error = storage_failed_;
  return true;
}

void Writer::run_in_transaction(const Jobs& jobs) {
  try {
    write_and_commit(jobs);
  } catch (const DiskFull&) {
    if (!make_room_ || !make_room_()) throw;
    write_and_commit(jobs);
  }
  for (Job* job : jobs) kill_point(job->points.after_commit);
}

void Writer::write_and_commit(const Jobs& jobs) {
  try {
    if (!roll_back()) throw StoreError{"cannot end a transaction that failed; out of memory?"};
    connection_->counts().forget();
    connection_->use("BEGIN IMMEDIATE").run();
    for (Job* job : jobs) {
      job->work(*connection_);
      kill_point(job->points.before_commit);
    }
    connection_->counts().write(*connection_);
    leave_mark();
    commit();
  } catch (const std::exception&) {
    roll_back();
    throw;
  }
}

void Writer::commit() {
  log_.grew = false;
  notes_->before_commit();
  connection_->use("COMMIT").run();
  marked_ = true;
  if (log_.grew) notes_->committed(log_.pages);
}

bool Writer::roll_back() {
  if (sqlite3_get_autocommit(connection_->handle())) return true;
  try {
    connection_->use(roll_back_sql).run();
    return true;
  } catch (const StoreError&) {
    return false;
  }
}

void Writer::leave_mark() {
  if (marked_) return;
  connection_->use("INSERT OR IGNORE INTO holdfast_meta (key, value) VALUES ('open', ?)")
      .bind(mark_)
      .run();
}

void Writer::close_properly() {
  if (!connection_ || storage_failed_) return;
  try {
    sqlite3_busy_timeout(connection_->handle(), closing_patience_ms);
    if (connection_->number("SELECT count(*) FROM holdfast_meta WHERE key = 'open'") == 0) return;
    kill_point(KillPoint::close_before_mark);
    // Without a sync: a power cut may bring the mark back, and then it is right.
    connection_->execute("PRAGMA synchronous=NORMAL");
    connection_->execute("DELETE FROM holdfast_meta WHERE key = 'open'");
    kill_point(KillPoint::close_after_mark);
  } catch (const StoreError&) {
    marked_ = true;  // stays: nobody can say that it was closed properly
  }
}

void Writer::checkpoint_if_large() {
  if (log_.pages < pages_before_) checkpoint_at_ = large_wal_pages_;  // it was started anew
  pages_before_ = log_.pages;
  if (!checkpoint_wanted_.exchange(false) && log_.pages < checkpoint_at_) return;
  checkpoint_now();
  // The next write starts the log anew. If a reader is in the way, then the next try comes when the
  // log has grown by as much again.
  checkpoint_at_ = log_.pages + large_wal_pages_;
}

void Writer::checkpoint_now() {
  kill_point(KillPoint::checkpoint_before);
  try {
    copy_log();
  } catch (const StoreError& error) {
    // Somebody else writes, or there is no room. The log grows a little longer, and is copied the
    // next time.
    if (on_checkpoint_trouble_) on_checkpoint_trouble_(error.what());
  }
  kill_point(KillPoint::checkpoint_after);
}

void Writer::copy_log() {
  // This version of SQLite can lose pages when another connection starts the log anew while it is
  // copied. Its checkpoints that keep writers out give that up silently when somebody else is
  // writing, a connection of the user's for example. So a second connection keeps them out; where
  // it cannot, there is no checkpoint this time.
  Connection guard{sqlite3_db_filename(connection_->handle(), "main"), Connection::Mode::read_write,
                   Durability::crash_safe};
  sqlite3_busy_timeout(guard.handle(), checkpoint_patience_ms);
  guard.execute("BEGIN IMMEDIATE");
  int frames = 0, copied = 0;
  auto* db = connection_->handle();
  int code = sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &copied);
  if (code == SQLITE_OK) {
    notes_->copied(copied);
  } else if (is_storage_failure(db, code)) {
    stop_writing(code);
    std::rethrow_exception(storage_failed_);
  } else {
    throw_sqlite_error(db, code, "copying the write-ahead log into it");
  }
  guard.execute("ROLLBACK");
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
