#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/attempt.hpp>
#include <holdfast/tasks.hpp>

struct pg_conn;  // libpq's PGconn

namespace holdfast::postgres {

/// Enqueues inside the caller's own transaction: the tasks exist if and when that commits, together
/// with the caller's other writes, and workers are woken by the commit. `db` must be connected to
/// the database of the engine, be inside a transaction, and wait for no result. While that
/// transaction is open, others who enqueue the same id or unique key wait for it, and so does the
/// end of a task that one of these is to come after: keep it short. Throws `InvalidRequest` if one
/// of this is not so; the transaction can then only be rolled back, as after any statement that
/// failed.
std::vector<TaskId> enqueue_all(const Engine& engine, pg_conn* db, std::vector<NewTask> tasks);

template <class T>
TaskId enqueue(const Engine& engine, pg_conn* db, std::string kind, const T& payload,
               TaskOptions options = {}) {
  return enqueue_all(engine, db,
                     {NewTask{std::move(kind), to_payload(payload), std::move(options)}})
      .front();
}

/// Completes the task of a running attempt inside the handler's own transaction: what the handler
/// wrote in it and the end of the task commit together or not at all. Commit, then return `done`;
/// if the commit fails, throw. What is to follow is enqueued in the same transaction; what was
/// asked for by `Attempt::then` does not happen. Throws `LeaseLost` if this worker does not hold
/// the task any more: roll back. `result` is JSON text.
void complete(const Engine& engine, pg_conn* db, const Attempt& attempt, std::string result = {});

/// What `migrate` found and left, as versions of the tables.
struct Migration {
  int before = 0;  ///< 0: there were none
  int now = 0;
};
/// Makes the tables of the store, or brings them to this version. `open` does the same if it may,
/// but for those of batches, which are made when they are first needed.
Migration migrate(std::string_view address);
/// The statements for that on an empty database, for people who would rather run them themselves.
std::string migration_text(std::string_view address);

/// How well the server keeps up with cleaning after us.
struct Upkeep {
  std::int64_t dead_rows = 0;  ///< versions of tasks that nobody needs, not cleaned up yet
  std::int64_t live_rows = 0;
  /// The oldest transaction that keeps the server from cleaning; nothing: none is older than a
  /// second.
  struct Blocker {
    int pid = 0;
    std::string who{};  ///< its application and user, or what else it is
    Millis age{0};
  };
  std::optional<Blocker> blocker{};
  /// Not so: only transactions of the same role can be seen. GRANT pg_read_all_stats changes that.
  bool sees_others = true;
};
/// Nothing if the engine is not PostgreSQL.
std::optional<Upkeep> upkeep(const Engine& engine);

}  // namespace holdfast::postgres
