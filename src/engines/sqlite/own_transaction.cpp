#include <sqlite3.h>

#include <holdfast/sqlite.hpp>

#include "engines/sqlite/adopt.hpp"
#include "engines/sqlite/engine.hpp"
#include "engines/sqlite/statements.hpp"
#include "engines/sqlite/transfer.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::sqlite {

namespace {

/// Whether this connection has ever written pages to the log before their commit. `adopt` keeps it
/// from doing so again.
bool has_spilled(Connection& db) {
  int now = 0, most = 0;
  sqlite3_db_status(db.handle(), SQLITE_DBSTATUS_CACHE_SPILL, &now, &most, 0);
  return now > 0;
}

/// All of it with its counts, or nothing: the caller may go on with the transaction after an error.
/// SQLite 3.40 writes wrong checksums into the log when a transaction that has spilled rolls back
/// to a savepoint, and the next start would lose that commit and all later ones. So such a
/// transaction is rolled back as a whole.
template <class F>
void do_whole(Connection& db, F work) {
  const bool savepoint = !has_spilled(db);
  if (savepoint) db.execute("SAVEPOINT holdfast");
  try {
    work();
    db.counts().write(db);
  } catch (const std::exception&) {
    // A full disk may have ended the whole transaction.
    if (!sqlite3_get_autocommit(db.handle()))
      db.execute(savepoint ? "ROLLBACK TO holdfast; RELEASE holdfast" : "ROLLBACK");
    throw;
  }
  if (savepoint) db.execute("RELEASE holdfast");
}

}  // namespace

std::vector<TaskId> enqueue_all(const Engine& engine, sqlite3* db, std::vector<NewTask> tasks) {
  auto& store = store_of(engine);
  for (const auto& task : tasks) validate(task, engine.settings());
  require_writable(engine.parts());
  adopt(db, store, engine.settings().durability);
  Connection borrowed{db};
  expect_not_moved(store, borrowed);
  std::vector<TaskId> ids;
  do_whole(borrowed, [&] {
    for (const auto& one : insert_tasks(borrowed, tasks, store.clock.wall())) ids.push_back(one.id);
  });
  return ids;
}

void complete(const Engine& engine, sqlite3* db, const Attempt& attempt, std::string result) {
  auto& store = store_of(engine);
  require_writable(engine.parts());
  adopt(db, store, engine.settings().durability);
  Settlement settlement{.lease = {attempt.task(), attempt.token()},
                        .result = std::move(result),
                        .attempt = attempt.number(),
                        .kind = attempt.kind()};
  kill_point(KillPoint::own_complete_before_write);
  Connection borrowed{db};
  std::vector<Settled> settled;
  do_whole(borrowed, [&] {
    settled = settle_tasks(borrowed, std::span{&settlement, 1}, store.clock.wall()).settled;
  });
  kill_point(KillPoint::own_complete_after_write);
  if (settled.front() == Settled::refused)
    throw LeaseLost{"task " + attempt.task().text() + " is not held by this worker any more"};
}

}  // namespace holdfast::sqlite
