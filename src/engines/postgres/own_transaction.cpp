#include <libpq-fe.h>

#include <holdfast/postgres.hpp>

#include "engines/postgres/engine.hpp"
#include "engines/postgres/statements.hpp"
#include "engines/postgres/store.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::postgres {

namespace {

void expect_transaction(const pg_conn* db) {
  if (!db || PQtransactionStatus(db) != PQTRANS_INTRANS)
    throw InvalidRequest{
        "the connection is not inside a transaction; begin one, or enqueue without a connection"};
}

/// Heard by others when the transaction commits.
void announce(Connection& db, const Session& session) {
  db.run("SELECT pg_catalog.pg_notify($1, 'work')", session.channel());
}

/// All of it with its counts, or nothing: the caller may go on with the transaction after an error.
template <class F>
void do_whole(Connection& db, F work) {
  db.run("SAVEPOINT holdfast");
  try {
    const PinnedPath path{db};
    work();
    db.counts().queue(db);
    path.queue_restore(db);
    db.run("RELEASE SAVEPOINT holdfast");
  } catch (const ConnectionLost&) {
    throw;
  } catch (const std::exception&) {
    db.run("ROLLBACK TO SAVEPOINT holdfast");
    db.run("RELEASE SAVEPOINT holdfast");
    throw;
  }
}

}  // namespace

std::vector<TaskId> enqueue_all(const Engine& engine, pg_conn* connection,
                                std::vector<NewTask> tasks) {
  auto& store = store_of(engine);
  for (const auto& task : tasks) validate(task, engine.settings());
  expect_transaction(connection);
  Connection db{store.dialect, connection};
  db.tell_time();
  std::vector<TaskId> ids;
  do_whole(db, [&] {
    for (const auto& one : insert_tasks(db, tasks)) ids.push_back(one.id);
  });
  announce(db, store.session);
  return ids;
}

void complete(const Engine& engine, pg_conn* connection, const Attempt& attempt,
              std::string result) {
  auto& store = store_of(engine);
  expect_transaction(connection);
  Connection db{store.dialect, connection};
  db.tell_time();
  Settlement settlement{.lease = {attempt.task(), attempt.token()},
                        .result = std::move(result),
                        .attempt = attempt.number()};
  kill_point(KillPoint::own_complete_before_write);
  Settling settling{std::span{&settlement, 1}};
  do_whole(db, [&] {
    settling.queue(db);
    auto results = db.collect();
    settling.finish(db, std::span{results}.last(settling.results()));
  });
  if (settling.settled.front() == Settled::refused)
    throw LeaseLost{"task " + attempt.task().text() + " is not held by this worker any more"};
  if (settling.woke_others) announce(db, store.session);
  kill_point(KillPoint::own_complete_after_write);
}

}  // namespace holdfast::postgres
