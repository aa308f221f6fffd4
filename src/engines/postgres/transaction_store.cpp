#include "engines/postgres/transaction_store.hpp"

#include <map>

#include <holdfast/payload.hpp>

#include "engines/postgres/steps.hpp"

namespace holdfast::postgres {

namespace {

constexpr Writer::KillPoints step_points{KillPoint::step_before_commit,
                                         KillPoint::step_after_commit};

}  // namespace

std::vector<Stepped> PostgresTransactionStore::step(std::span<const Step> steps) {
  return store_.stepper.step(step_points, steps);
}

std::vector<std::optional<TransactionRow>> PostgresTransactionStore::find(
    std::span<const TaskId> ids) {
  std::map<TaskId, TransactionRow> found;
  store_.reader.read([&](Connection& db) {
    auto rows = db.run(
        "SELECT task, state, reason, data, error, failures, began_at, entered_at, progressed_at"
        " FROM hf.transactions WHERE task = ANY($1)",
        ids);
    while (rows.next())
      found[rows.task_id(0)] = {.state = rows.text(1),
                                .reason = rows.text(2),
                                .data = rows.text(3),
                                .error = rows.text(4),
                                .failures = rows.small(5),
                                .began_at = rows.time(6),
                                .entered_at = rows.time(7),
                                .progressed_at = rows.time(8)};
  });
  std::vector<std::optional<TransactionRow>> rows;
  for (auto id : ids) {
    auto at = found.find(id);
    rows.push_back(at == found.end() ? std::nullopt : std::optional{at->second});
  }
  return rows;
}

std::optional<std::string> PostgresTransactionStore::recorded(TaskId id, const std::string& series,
                                                              std::int64_t ordinal) {
  return store_.reader.read([&](Connection& db) -> std::optional<std::string> {
    auto rows =
        db.run("SELECT value FROM hf.ledger WHERE task = $1 AND series = $2 AND ordinal = $3", id,
               series, ordinal);
    if (!rows.next()) return {};
    return rows.text(0);
  });
}

std::vector<LedgerEntry> PostgresTransactionStore::ledger(TaskId id, Stretch stretch) {
  return store_.reader.read([&](Connection& db) {
    std::vector<LedgerEntry> entries;
    auto rows = db.run(
        "SELECT series, ordinal, value FROM hf.ledger WHERE task = $1 ORDER BY series, ordinal"
        " LIMIT $2 OFFSET $3",
        id, stretch.most, stretch.skip);
    while (rows.next()) entries.push_back({rows.text(0), rows.integer(1), rows.text(2)});
    return entries;
  });
}

std::vector<OutboxEntry> PostgresTransactionStore::outbox(TaskId id) {
  return store_.reader.read([&](Connection& db) {
    std::vector<OutboxEntry> entries;
    auto rows =
        db.run("SELECT n, queue, body, id, headers FROM hf.outbox WHERE task = $1 ORDER BY n", id);
    while (rows.next())
      entries.push_back(
          {rows.integer(0),
           {rows.text(1), rows.text(2), rows.text(3), from_payload<MessageHeaders>(rows.text(4))}});
    return entries;
  });
}

std::vector<StateMove> PostgresTransactionStore::moves(TaskId id, Stretch stretch) {
  return store_.reader.read([&](Connection& db) {
    std::vector<StateMove> moves;
    auto rows = db.run(
        "SELECT from_state, to_state, reason, token, at FROM hf.moves WHERE task = $1 ORDER BY n"
        " LIMIT $2 OFFSET $3",
        id, stretch.most, stretch.skip);
    while (rows.next())
      moves.push_back(
          {rows.text(0), rows.text(1), rows.text(2), Token{rows.integer(3)}, rows.time(4)});
    return moves;
  });
}

std::int64_t PostgresTransactionStore::move_count(TaskId id) {
  return store_.reader.read([&](Connection& db) {
    auto rows = db.run("SELECT count(*) FROM hf.moves WHERE task = $1", id);
    rows.next();
    return rows.integer(0);
  });
}

bool PostgresTransactionStore::put_back(TaskId id, Step step) {
  return store_.writer.write(step_points, [&](Connection& db) {
    auto rows = db.run(
        "SELECT x.state, t.token FROM hf.tasks t JOIN hf.transactions x ON x.task = t.id"
        " WHERE t.id = $1 AND t.state IN ({failed}, {cancelled}, {held}) FOR UPDATE OF t",
        id);
    if (!rows.next()) return false;
    step.lease = {id, Token{rows.integer(1)}};
    step.from = rows.text(0);
    take_step_of_nobody(db, step);
    return true;
  });
}

}  // namespace holdfast::postgres
