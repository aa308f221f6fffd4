#include <sqlite3.h>

#include <holdfast/sqlite.hpp>

#include "engines/sqlite/adopt.hpp"
#include "engines/sqlite/engine.hpp"
#include "engines/sqlite/statements.hpp"
#include "engines/sqlite/transfer.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::sqlite {

namespace {

/// All of it with its counts, or nothing: the caller may go on with the transaction after an error.
template <class F>
void do_whole(Connection& db, F work) {
  db.execute("SAVEPOINT holdfast");
  try {
    work();
    db.counts().write(db);
  } catch (const std::exception&) {
    // A full disk may have ended the whole transaction.
    if (!sqlite3_get_autocommit(db.handle())) db.execute("ROLLBACK TO holdfast; RELEASE holdfast");
    throw;
  }
  db.execute("RELEASE holdfast");
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
