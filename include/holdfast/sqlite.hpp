#pragma once

#include <vector>

#include <holdfast/tasks.hpp>

struct sqlite3;

namespace holdfast::sqlite {

/// Enqueues inside the caller's own transaction: the tasks exist if and when that commits, together
/// with the caller's other writes. `db` must be open on the same file as the engine, with
/// `synchronous=FULL` if the store is power-safe, and be inside a transaction (begin it with
/// `BEGIN IMMEDIATE`). The first call adopts the connection: its `sqlite3_wal_hook` is used to wake
/// workers after each commit, which turns SQLite's automatic checkpoints off for it; Holdfast does
/// the checkpoints. Throws `InvalidRequest` if one of this is not so.
std::vector<TaskId> enqueue_all(const Engine& engine, sqlite3* db, std::vector<NewTask> tasks);

template <class T>
TaskId enqueue(const Engine& engine, sqlite3* db, std::string kind, const T& payload,
               TaskOptions options = {}) {
  return enqueue_all(engine, db,
                     {NewTask{std::move(kind), to_payload(payload), std::move(options)}})
      .front();
}

}  // namespace holdfast::sqlite
