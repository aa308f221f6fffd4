#include "engines/postgres/task_store.hpp"

#include "engines/postgres/statements.hpp"

namespace holdfast::postgres {

namespace {

constexpr Writer::KillPoints enqueue_points{KillPoint::enqueue_before_commit,
                                            KillPoint::enqueue_after_commit};
constexpr Writer::KillPoints exchange_points{KillPoint::exchange_before_commit,
                                             KillPoint::exchange_after_commit};
constexpr Writer::KillPoints record_points{KillPoint::record_before_commit,
                                           KillPoint::record_after_commit};

/// One after the other in as few trips to the server as there can be.
Exchanged exchange_once(Connection& db, const Exchange& exchange, bool& woke_others) {
  Settling settling{exchange.settle};
  std::optional<Claiming> claiming;
  settling.queue(db);
  if (exchange.claim) claiming.emplace(*exchange.claim);
  // What is decided below may be what can be claimed.
  const bool looks_now = claiming && !settling.decides();
  if (looks_now) claiming->queue_look(db);
  auto results = db.collect();
  auto looked = looks_now ? Claiming::look_results : 0;
  Exchanged done;
  if (settling.results() > 0) {
    auto first = results.size() - looked - settling.results();
    settling.finish(db, std::span{results}.subspan(first, settling.results()));
    done.settled = std::move(settling.settled);
    done.also = std::move(settling.also);
    woke_others = settling.woke_others;
  }
  if (!claiming) return done;
  if (!looks_now || settling.made_ready_later) {
    claiming->queue_look(db);
    results = db.collect();
  }
  claiming->take(db, std::move(results[results.size() - 2]), std::move(results.back()), done);
  return done;
}

}  // namespace

std::vector<Inserted> PostgresTaskStore::insert(std::span<const NewTask> tasks) {
  if (tasks.empty()) return {};
  auto inserted = store_.writer.insert(enqueue_points, tasks);
  store_.session.announce_work();
  return inserted;
}

Exchanged PostgresTaskStore::exchange(const Exchange& exchange) {
  if (exchange.settle.empty() && !exchange.claim) return {};
  bool woke_others = false;
  auto& writer = exchange.settle.empty() ? store_.claimer : store_.writer;
  auto exchanged = writer.write(exchange_points, [&](Connection& db) {
    woke_others = false;
    return exchange_once(db, exchange, woke_others);
  });
  if (woke_others) store_.session.announce_work();
  return exchanged;
}

std::vector<Recorded> PostgresTaskStore::record(std::span<const Note> notes) {
  if (notes.empty()) return {};
  return store_.writer.write(record_points,
                             [&](Connection& db) { return record_notes(db, notes); });
}

std::optional<WallTime> PostgresTaskStore::next_due(const ClaimRequest& claim) {
  return store_.reader.read([&](Connection& db) { return earliest_due(db, claim); });
}

}  // namespace holdfast::postgres
