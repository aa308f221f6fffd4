#include "engines/postgres/transaction_store.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <boost/json.hpp>

#include <holdfast/payload.hpp>

#include "engines/postgres/statements.hpp"

namespace holdfast::postgres {

namespace {

constexpr Writer::KillPoints step_points{KillPoint::step_before_commit,
                                         KillPoint::step_after_commit};

/// Parameters are text, and a body may be anything.
std::string hex_of(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (unsigned char byte : bytes) {
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

/// One step, inside a transaction that was begun.
class Stepping {
 public:
  Stepping(Connection& db, const Step& step) : db_{db}, step_{step}, id_{step.lease.id} {}

  Stepped run() {
    db_.queue(
        "INSERT INTO hf.transactions VALUES ($1, $2, '', 'null', '', 0, {wall}, {wall}, {wall})"
        " ON CONFLICT DO NOTHING",
        id_, step_.from);
    if (step_.forget_ledger) db_.queue("DELETE FROM hf.ledger WHERE task = $1", id_);
    Stepped done{.accepted = true};
    if (!step_.record.empty()) done.recorded = record();
    if (step_.data)
      db_.queue("UPDATE hf.transactions SET data = $2 WHERE task = $1", id_, *step_.data);
    if (step_.error)
      db_.queue("UPDATE hf.transactions SET failures = failures + 1, error = $2 WHERE task = $1",
                id_, *step_.error);
    if (step_.to) move(*step_.to);
    if (progressed_)
      db_.queue("UPDATE hf.transactions SET progressed_at = {wall} WHERE task = $1", id_);
    for (auto number : step_.sent)
      db_.queue("DELETE FROM hf.outbox WHERE task = $1 AND n = $2", id_, number);
    for (const auto& message : step_.send)
      db_.queue(
          "INSERT INTO hf.outbox (task, queue, id, headers, body)"
          " VALUES ($1, $2, $3, $4, decode($5, 'hex'))",
          id_, message.queue, message.id,
          boost::json::serialize(boost::json::value_from(message.headers)), hex_of(message.body));
    db_.collect();
    return done;
  }

 private:
  std::vector<std::string> record() {
    Array series{Type::text}, ordinals{Type::bigint}, values{Type::text};
    for (const auto& entry : step_.record) {
      series.add(entry.series);
      ordinals.add(entry.ordinal);
      values.add(entry.value);
    }
    auto added = db_.run(
        "INSERT INTO hf.ledger SELECT $1, e.* FROM unnest($2::text[], $3::bigint[], $4::text[])"
        " AS e ON CONFLICT DO NOTHING",
        id_, series.value(), ordinals.value(), values.value());
    progressed_ = added.changed() > 0;
    auto rows = db_.run(
        "SELECT l.value FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY"
        " AS e(series, ordinal, n) JOIN hf.ledger l ON l.task = $1 AND l.series = e.series"
        " AND l.ordinal = e.ordinal ORDER BY e.n",
        id_, series.value(), ordinals.value());
    std::vector<std::string> recorded;
    while (rows.next()) recorded.push_back(rows.text(0));
    return recorded;
  }

  void move(const std::string& to) {
    progressed_ = true;
    db_.queue(
        "UPDATE hf.transactions SET state = $2, reason = $3, entered_at = {wall}, failures = 0,"
        " error = '' WHERE task = $1",
        id_, to, step_.reason);
    db_.queue(
        "INSERT INTO hf.moves (task, from_state, to_state, reason, token, at)"
        " VALUES ($1, $2, $3, $4, $5, {wall})",
        id_, step_.from, to, step_.reason, step_.lease.token);
  }

  Connection& db_;
  const Step& step_;
  TaskId id_;
  bool progressed_ = false;
};

/// Whether the lease is still its holder's, in a way that it stays so until the commit.
bool holds(Connection& db, const Lease& lease) {
  return db
      .run(
          "SELECT 1 FROM hf.tasks t, (SELECT $1::uuid AS id, $2::bigint AS token) s "
          "WHERE" HOLDFAST_TOKEN_GUARD "FOR SHARE OF t",
          lease.id, lease.token)
      .next();
}

}  // namespace

std::vector<Stepped> PostgresTransactionStore::step(std::span<const Step> steps) {
  return store_.writer.write(step_points, [&](Connection& db) {
    std::vector<Stepped> done;
    for (const auto& one : steps)
      done.push_back(holds(db, one.lease) ? Stepping{db, one}.run() : Stepped{});
    count_refused(db, std::ranges::count(done, false, &Stepped::accepted));
    return done;
  });
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

std::vector<LedgerEntry> PostgresTransactionStore::ledger(TaskId id) {
  return store_.reader.read([&](Connection& db) {
    std::vector<LedgerEntry> entries;
    auto rows = db.run(
        "SELECT series, ordinal, value FROM hf.ledger WHERE task = $1 ORDER BY series, ordinal",
        id);
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

std::vector<StateMove> PostgresTransactionStore::moves(TaskId id) {
  return store_.reader.read([&](Connection& db) {
    std::vector<StateMove> moves;
    auto rows = db.run(
        "SELECT from_state, to_state, reason, token, at FROM hf.moves WHERE task = $1 ORDER BY n",
        id);
    while (rows.next())
      moves.push_back(
          {rows.text(0), rows.text(1), rows.text(2), Token{rows.integer(3)}, rows.time(4)});
    return moves;
  });
}

bool PostgresTransactionStore::put_back(TaskId id, Step step) {
  return store_.writer.write(step_points, [&](Connection& db) {
    auto rows = db.run(
        "SELECT x.state, t.token FROM hf.tasks t JOIN hf.transactions x ON x.task = t.id"
        " WHERE t.id = $1 AND t.state IN (3, 4, 6) FOR UPDATE OF t",
        id);
    if (!rows.next()) return false;
    step.lease = {id, Token{rows.integer(1)}};
    step.from = rows.text(0);
    Stepping{db, step}.run();
    return true;
  });
}

}  // namespace holdfast::postgres
