#include "engines/sqlite/transaction_store.hpp"

#include <algorithm>

#include "engines/sqlite/broker_messages.hpp"
#include "engines/sqlite/row_sum.hpp"
#include "engines/sqlite/statements.hpp"

namespace holdfast::sqlite {

namespace {

constexpr Writer::KillPoints step_points{KillPoint::step_before_commit,
                                         KillPoint::step_after_commit};
std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void put_out(Connection& db, std::int64_t seq, const Message& message) {
  auto headers = headers_text(message.headers);
  db.use("INSERT INTO holdfast_outbox (task, queue, id, headers, body) VALUES (?, ?, ?, ?, ?)")
      .bind(seq, message.queue, message.id, headers, bytes_of(message.body))
      .run();
}

void note_move(Connection& db, std::int64_t seq, const StateMove& move) {
  db.use(
        "INSERT INTO holdfast_moves VALUES (?1, (SELECT coalesce(max(n), 0) + 1 FROM"
        " holdfast_moves WHERE task = ?1), ?2, ?3, ?4, ?5, ?6)")
      .bind(seq, move.from, move.to, move.reason, move.token, move.at)
      .run();
}

/// One step, inside a transaction that was begun.
class Stepping {
 public:
  Stepping(Connection& db, std::int64_t seq, const Step& step, WallTime now)
      : db_{db}, seq_{seq}, step_{step}, now_{now}, progressed_{step.progressed} {}

  Stepped run() {
    db_.use(
           "INSERT OR IGNORE INTO holdfast_transactions (task, state, reason, data, error,"
           " failures, began_at, entered_at, progressed_at)"
           " VALUES (?1, ?2, '', 'null', '', 0, ?3, ?3, ?3)")
        .bind(seq_, step_.from, now_)
        .run();
    if (step_.forget_ledger) db_.use("DELETE FROM holdfast_ledger WHERE task = ?").bind(seq_).run();
    Stepped done{.accepted = true};
    for (const auto& entry : step_.record) done.recorded.push_back(record(entry));
    for (const auto& entry : step_.marks) mark(entry);
    if (step_.data)
      db_.use("UPDATE holdfast_transactions SET data = ? WHERE task = ?")
          .bind(*step_.data, seq_)
          .run();
    if (step_.error)
      db_.use("UPDATE holdfast_transactions SET failures = failures + 1, error = ? WHERE task = ?")
          .bind(*step_.error, seq_)
          .run();
    if (step_.trouble)
      db_.use("UPDATE holdfast_transactions SET error = ? WHERE task = ?")
          .bind(*step_.trouble, seq_)
          .run();
    if (step_.to) move(*step_.to);
    if (progressed_)
      db_.use("UPDATE holdfast_transactions SET progressed_at = ? WHERE task = ?")
          .bind(now_, seq_)
          .run();
    seal_transaction(db_, seq_);
    for (auto number : step_.sent)
      db_.use("DELETE FROM holdfast_outbox WHERE n = ? AND task = ?").bind(number, seq_).run();
    for (const auto& message : step_.send) put_out(db_, seq_, message);
    return done;
  }

 private:
  std::string record(const LedgerEntry& entry) {
    db_.use("INSERT OR IGNORE INTO holdfast_ledger VALUES (?, ?, ?, ?)")
        .bind(seq_, entry.series, entry.ordinal, entry.value)
        .run();
    if (db_.changes() > 0) {
      progressed_ = true;
      return entry.value;
    }
    auto read =
        db_.use("SELECT value FROM holdfast_ledger WHERE task = ? AND series = ? AND ordinal = ?");
    read.bind(seq_, entry.series, entry.ordinal).step();
    return read.text(0);
  }

  void mark(const LedgerEntry& entry) {
    if (entry.value.empty())
      db_.use("DELETE FROM holdfast_ledger WHERE task = ? AND series = ? AND ordinal = ?")
          .bind(seq_, entry.series, entry.ordinal)
          .run();
    else
      db_.use("INSERT OR REPLACE INTO holdfast_ledger VALUES (?, ?, ?, ?)")
          .bind(seq_, entry.series, entry.ordinal, entry.value)
          .run();
  }

  void move(const std::string& to) {
    progressed_ = true;
    db_.use(
           "UPDATE holdfast_transactions SET state = ?, reason = ?, entered_at = ?, failures = 0,"
           " error = '' WHERE task = ?")
        .bind(to, step_.reason, now_, seq_)
        .run();
    note_move(db_, seq_, {step_.from, to, step_.reason, step_.lease.token, now_});
  }

  Connection& db_;
  std::int64_t seq_;
  const Step& step_;
  WallTime now_;
  bool progressed_;
};

Stepped step_one(Connection& db, const Step& step, WallTime now) {
  std::int64_t seq = 0;
  {
    auto find = db.use("SELECT seq FROM holdfast_tasks WHERE" HOLDFAST_TOKEN_GUARD);
    if (!find.bind(step.lease.id, step.lease.token).step()) return {};
    seq = find.integer(0);
  }
  return Stepping{db, seq, step, now}.run();
}

void adopt_one(Connection& db, const TransactionParcel& parcel) {
  std::int64_t seq = 0;
  {
    auto find = db.use("SELECT seq FROM holdfast_tasks WHERE id = ? AND state <> {running}");
    if (!find.bind(parcel.id).step()) return;
    seq = find.integer(0);
  }
  for (const char* remove :
       {"DELETE FROM holdfast_ledger WHERE task = ?", "DELETE FROM holdfast_outbox WHERE task = ?",
        "DELETE FROM holdfast_moves WHERE task = ?"})
    db.use(remove).bind(seq).run();
  const auto& row = parcel.row;
  db.use(
        "INSERT OR REPLACE INTO holdfast_transactions (task, state, reason, data, error, failures,"
        " began_at, entered_at, progressed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(seq, row.state, row.reason, row.data, row.error, row.failures, row.began_at,
            row.entered_at, row.progressed_at)
      .run();
  seal_transaction(db, seq);
  for (const auto& entry : parcel.ledger)
    db.use("INSERT INTO holdfast_ledger VALUES (?, ?, ?, ?)")
        .bind(seq, entry.series, entry.ordinal, entry.value)
        .run();
  for (const auto& message : parcel.outbox) put_out(db, seq, message);
  for (const auto& move : parcel.moves) note_move(db, seq, move);
}

std::optional<TransactionRow> find_one(Connection& db, TaskId id) {
  auto find = db.use(
      "SELECT x.state, x.reason, x.data, x.error, x.failures, x.began_at, x.entered_at,"
      " x.progressed_at FROM holdfast_transactions x JOIN holdfast_tasks t ON t.seq = x.task"
      " WHERE t.id = ?");
  if (!find.bind(id).step()) return {};
  return TransactionRow{.state = find.text(0),
                        .reason = find.text(1),
                        .data = find.text(2),
                        .error = find.text(3),
                        .failures = static_cast<int>(find.integer(4)),
                        .began_at = find.time(5),
                        .entered_at = find.time(6),
                        .progressed_at = find.time(7)};
}

}  // namespace

std::vector<Stepped> SqliteTransactionStore::step(std::span<const Step> steps) {
  return store_.writer.write(step_points, [&](Connection& db) {
    std::vector<Stepped> done;
    for (const auto& one : steps) done.push_back(step_one(db, one, store_.clock.wall()));
    count_refused(db, std::ranges::count(done, false, &Stepped::accepted));
    return done;
  });
}

std::vector<std::optional<TransactionRow>> SqliteTransactionStore::find(
    std::span<const TaskId> ids) {
  return store_.reader.read([&](Connection& db) {
    std::vector<std::optional<TransactionRow>> rows;
    for (auto id : ids) rows.push_back(find_one(db, id));
    return rows;
  });
}

std::optional<std::string> SqliteTransactionStore::recorded(TaskId id, const std::string& series,
                                                            std::int64_t ordinal) {
  return store_.reader.read([&](Connection& db) -> std::optional<std::string> {
    auto find = db.use(
        "SELECT l.value FROM holdfast_ledger l JOIN holdfast_tasks t ON t.seq = l.task"
        " WHERE t.id = ? AND l.series = ? AND l.ordinal = ?");
    if (!find.bind(id, series, ordinal).step()) return {};
    return find.text(0);
  });
}

std::vector<LedgerEntry> SqliteTransactionStore::ledger(TaskId id, Stretch stretch) {
  return store_.reader.read([&](Connection& db) {
    std::vector<LedgerEntry> entries;
    auto query = db.use(
        "SELECT l.series, l.ordinal, l.value FROM holdfast_ledger l JOIN holdfast_tasks t"
        " ON t.seq = l.task WHERE t.id = ? ORDER BY l.series, l.ordinal LIMIT ? OFFSET ?");
    query.bind(id, stretch.most, stretch.skip);
    while (query.step()) entries.push_back({query.text(0), query.integer(1), query.text(2)});
    return entries;
  });
}

std::vector<OutboxEntry> SqliteTransactionStore::outbox(TaskId id) {
  return store_.reader.read([&](Connection& db) {
    std::vector<OutboxEntry> entries;
    auto query = db.use(
        "SELECT o.n, o.queue, o.body, o.id, o.headers FROM holdfast_outbox o JOIN holdfast_tasks t"
        " ON t.seq = o.task WHERE t.id = ? ORDER BY o.n");
    query.bind(id);
    while (query.step())
      entries.push_back(
          {query.integer(0),
           {query.text(1), query.text(2), query.text(3), parse_headers(query.text(4))}});
    return entries;
  });
}

std::vector<StateMove> SqliteTransactionStore::moves(TaskId id, Stretch stretch) {
  return store_.reader.read([&](Connection& db) {
    std::vector<StateMove> moves;
    auto query = db.use(
        "SELECT m.from_state, m.to_state, m.reason, m.token, m.at FROM holdfast_moves m"
        " JOIN holdfast_tasks t ON t.seq = m.task WHERE t.id = ? ORDER BY m.n LIMIT ? OFFSET ?");
    query.bind(id, stretch.most, stretch.skip);
    while (query.step())
      moves.push_back(
          {query.text(0), query.text(1), query.text(2), Token{query.integer(3)}, query.time(4)});
    return moves;
  });
}

std::int64_t SqliteTransactionStore::move_count(TaskId id) {
  return store_.reader.read([&](Connection& db) {
    auto query = db.use(
        "SELECT count(*) FROM holdfast_moves m JOIN holdfast_tasks t ON t.seq = m.task"
        " WHERE t.id = ?");
    query.bind(id);
    query.step();
    return query.integer(0);
  });
}

bool SqliteTransactionStore::put_back(TaskId id, Step step) {
  return store_.writer.write(step_points, [&](Connection& db) {
    auto now = store_.clock.wall();
    std::int64_t seq = 0;
    {
      auto find = db.use(
          "SELECT t.seq, x.state, t.token FROM holdfast_tasks t JOIN holdfast_transactions x"
          " ON x.task = t.seq WHERE t.id = ? AND t.state IN ({failed}, {cancelled}, {held})");
      if (!find.bind(id).step()) return false;
      seq = find.integer(0);
      step.from = find.text(1);
      step.lease = {id, Token{find.integer(2)}};
    }
    Stepping{db, seq, step, now}.run();
    return true;
  });
}

void SqliteTransactionStore::adopt(std::span<const TransactionParcel> parcels) {
  store_.writer.write(move_points, [&](Connection& db) {
    for (const auto& parcel : parcels) adopt_one(db, parcel);
  });
}

}  // namespace holdfast::sqlite
