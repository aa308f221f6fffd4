#include "engines/sqlite/task_store.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "engines/sqlite/limits.hpp"
#include "engines/sqlite/room.hpp"
#include "engines/sqlite/row_sum.hpp"
#include "engines/sqlite/statements.hpp"
#include "engines/sqlite/transfer.hpp"

namespace holdfast::sqlite {

namespace {

constexpr Writer::KillPoints enqueue_points{KillPoint::enqueue_before_commit,
                                            KillPoint::enqueue_after_commit};
constexpr Writer::KillPoints exchange_points{KillPoint::exchange_before_commit,
                                             KillPoint::exchange_after_commit};
constexpr Writer::KillPoints record_points{KillPoint::record_before_commit,
                                           KillPoint::record_after_commit};

struct RecordStep {
  Connection& db;
  TaskId id;
  std::int64_t seq;
  WallTime now;

  Recorded operator()(const ProgressNote& note) const {
    db.use(
          "INSERT OR REPLACE INTO holdfast_progress (task, fraction, text, at) VALUES (?, ?, ?, ?)")
        .bind(seq, note.fraction, note.text, now)
        .run();
    return {true, {}};
  }

  Recorded operator()(const LogNote& note) const {
    db.use(
          "INSERT INTO holdfast_log (task, n, at, attempt, line) VALUES (?1,"
          " (SELECT coalesce(max(n), 0) + 1 FROM holdfast_log WHERE task = ?1), ?2, ?3, ?4)")
        .bind(seq, now, note.attempt, note.line)
        .run();
    return {true, {}};
  }

  Recorded operator()(const EffectNote& note) const {
    db.use("INSERT OR IGNORE INTO holdfast_effects (task, key, value, sum) VALUES (?, ?, ?, ?)")
        .bind(seq, note.key, note.value, effect_sum(seq, note.key, note.value))
        .run();
    auto read = db.use("SELECT value, sum FROM holdfast_effects WHERE task = ? AND key = ?");
    read.bind(seq, note.key).step();
    if (read.integer(1) != effect_sum(seq, note.key, read.text(0)))
      throw StoreUnusable{fmt::format(
          "the value that task {} recorded for '{}' is damaged; the task is held when the store is "
          "opened again",
          id.text(), note.key)};
    return {true, read.text(0)};
  }
};

Recorded record_one(Connection& db, const Note& note, WallTime now) {
  std::int64_t seq = 0;
  {
    auto find = db.use("SELECT seq FROM holdfast_tasks WHERE" HOLDFAST_TOKEN_GUARD);
    find.bind(note.lease.id, note.lease.token);
    if (!find.step()) return {};
    seq = find.integer(0);
  }
  return std::visit(RecordStep{db, note.lease.id, seq, now}, note.what);
}

}  // namespace

std::vector<Inserted> SqliteTaskStore::insert(std::span<const NewTask> tasks) {
  auto inserted = store_.writer.write(enqueue_points, [&](Connection& db) {
    expect_not_moved(store_, db);
    expect_room(store_, db, tasks);
    return insert_tasks(db, tasks, store_.clock.wall());
  });
  store_.watch.announce_work();
  return inserted;
}

Exchanged SqliteTaskStore::exchange(const Exchange& exchange) {
  bool woke_others = false;
  auto exchanged = store_.writer.write(exchange_points, [&](Connection& db) {
    auto now = store_.clock.wall();
    auto result = settle_tasks(db, exchange.settle, now);
    bool limited = any_limits(db);
    // Where something ends there may be room for what a limit held back.
    woke_others = result.woke_others || (limited && !exchange.settle.empty());
    count_refused(db, std::ranges::count(result.settled, Settled::refused));
    Exchanged done;
    done.settled = std::move(result.settled);
    done.also = std::move(result.also);
    if (exchange.claim) {
      ClaimTime time{now, store_.clock.steady(), store_.token_floor()};
      claim_tasks(db, *exchange.claim, time, limited, done);
    }
    return done;
  });
  if (woke_others) store_.watch.announce_work();
  return exchanged;
}

std::vector<Recorded> SqliteTaskStore::record(std::span<const Note> notes) {
  return store_.writer.write(record_points, [&](Connection& db) {
    std::vector<Recorded> recorded;
    for (const auto& note : notes) recorded.push_back(record_one(db, note, store_.clock.wall()));
    count_refused(db, std::count_if(recorded.begin(), recorded.end(),
                                    [](const Recorded& one) { return !one.accepted; }));
    return recorded;
  });
}

std::optional<WallTime> SqliteTaskStore::next_due(const ClaimRequest& claim) {
  return store_.reader.read(
      [&](Connection& db) { return earliest_due(db, claim, store_.clock.wall()); });
}

Wake SqliteTaskStore::wait_for_work(Millis timeout) { return store_.watch.wait(timeout); }
void SqliteTaskStore::interrupt() { store_.watch.interrupt(); }

}  // namespace holdfast::sqlite
