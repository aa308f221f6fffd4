#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/attempt.hpp>
#include <holdfast/tasks.hpp>

struct sqlite3;

namespace holdfast::sqlite {

/// Enqueues inside the caller's own transaction: the tasks exist if and when that commits, together
/// with the caller's other writes. `db` must be open on the same file as the engine, with
/// `synchronous=FULL` if the store is power-safe, and be inside a transaction (begin it with
/// `BEGIN IMMEDIATE`). The first call adopts the connection: its `sqlite3_wal_hook` is used to wake
/// workers after each commit, which turns SQLite's automatic checkpoints off for it; Holdfast does
/// the checkpoints. Its `cache_spill` is turned off. Throws `InvalidRequest` if one of this is not
/// so.
///
/// If it throws, none of the tasks are enqueued and the caller may go on with the transaction,
/// unless that had outgrown the connection's cache before the first call: then it is rolled back as
/// a whole
/// (`sqlite3_get_autocommit` tells), because SQLite 3.40 cannot roll back a part of it safely.
std::vector<TaskId> enqueue_all(const Engine& engine, sqlite3* db, std::vector<NewTask> tasks);

template <class T>
TaskId enqueue(const Engine& engine, sqlite3* db, std::string kind, const T& payload,
               TaskOptions options = {}) {
  return enqueue_all(engine, db,
                     {NewTask{std::move(kind), to_payload(payload), std::move(options)}})
      .front();
}

/// Completes the task of a running attempt inside the handler's own transaction: what the handler
/// wrote in it and the end of the task commit together or not at all. Asks the same of `db` as
/// `enqueue_all`; begin with `BEGIN IMMEDIATE` and keep it short, because nobody else writes to the
/// file meanwhile, not even to renew leases. Commit, then return `done`; if the commit fails,
/// throw. What is to follow is enqueued in the same transaction; what was asked for by
/// `Attempt::then` does not happen. Throws `LeaseLost` if this worker does not hold the task any
/// more: roll back. `result` is JSON text. A `sqlite3_update_hook` of the connection is taken off.
void complete(const Engine& engine, sqlite3* db, const Attempt& attempt, std::string result = {});

struct BackupOptions {
  bool overwrite = false;  ///< replace a file that is there
  /// Called now and then with the bytes that are copied and those that there are.
  std::function<void(std::int64_t done, std::int64_t total)> progress{};
  std::stop_token stop{};
};

struct BackupResult {
  bool completed = true;  ///< false: stopped; then there is no backup
  std::int64_t bytes = 0;
  std::int64_t tasks = 0;
  Millis duration{0};
};

/// Copies the store into `file` while everybody goes on working: the copy is what was there at one
/// moment. It is checked before it gets its name, so a file with that name is a whole backup.
/// Throws `InvalidRequest` if the file is there already, `StoreUnusable` if the store is damaged.
BackupResult backup(const Engine& engine, const std::string& file,
                    const BackupOptions& options = {});

struct RestoreOptions {
  bool overwrite = false;  ///< replace a store that can be used
  bool for_group = false;  ///< its address says `access=group`
};

struct RestoreResult {
  std::string kept_aside{};         ///< the file that was there before; empty if there was none
  std::int64_t tasks = 0;           ///< in the store now
  std::int64_t held = 0;            ///< of these, so many wait for a person's word
  std::optional<WallTime> made_at;  ///< when the backup was made, if it says so
};

/// Puts a backup in the place of the store in the file `store`. Nobody may have the store open.
/// What was there is kept. Every unfinished task is held, because it may have run since the backup
/// was made: only a person can say which are to run again. Killed on the way, it can be run again.
/// Throws `InvalidRequest` if there is a store that can be used (and `overwrite` is not set) or if
/// the backup is none, `StoreUnusable` if the backup is damaged, `StoreError` if the store is open.
RestoreResult restore(const std::string& store, const std::string& backup,
                      const RestoreOptions& options = {});

}  // namespace holdfast::sqlite
