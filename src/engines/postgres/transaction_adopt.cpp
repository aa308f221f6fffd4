#include <boost/json.hpp>

#include "engines/postgres/steps.hpp"
#include "engines/postgres/transaction_store.hpp"

namespace holdfast::postgres {

namespace {

void queue_ledger(Connection& db, const TransactionParcel& parcel) {
  Array series{Type::text}, ordinals{Type::bigint}, values{Type::text};
  for (const auto& entry : parcel.ledger) {
    series.add(entry.series);
    ordinals.add(entry.ordinal);
    values.add(entry.value);
  }
  db.queue(
      "INSERT INTO hf.ledger SELECT $1, e.* FROM unnest($2::text[], $3::bigint[], $4::text[])"
      " AS e",
      parcel.id, series.value(), ordinals.value(), values.value());
}

void queue_parcel(Connection& db, const TransactionParcel& parcel) {
  db.queue("DELETE FROM hf.transactions WHERE task = $1", parcel.id);
  db.queue("DELETE FROM hf.ledger WHERE task = $1", parcel.id);
  db.queue("DELETE FROM hf.outbox WHERE task = $1", parcel.id);
  db.queue("DELETE FROM hf.moves WHERE task = $1", parcel.id);
  const auto& row = parcel.row;
  db.queue("INSERT INTO hf.transactions VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)", parcel.id,
           row.state, row.reason, row.data, row.error, row.failures, row.began_at, row.entered_at,
           row.progressed_at);
  queue_ledger(db, parcel);
  for (const auto& message : parcel.outbox)
    db.queue(
        "INSERT INTO hf.outbox (task, queue, id, headers, body)"
        " VALUES ($1, $2, $3, $4, decode($5, 'hex'))",
        parcel.id, message.queue, message.id,
        boost::json::serialize(boost::json::value_from(message.headers)), hex_of(message.body));
  for (const auto& move : parcel.moves)
    db.queue(
        "INSERT INTO hf.moves (task, from_state, to_state, reason, token, at)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        parcel.id, move.from, move.to, move.reason, move.token, move.at);
  db.collect();
}

}  // namespace

void PostgresTransactionStore::adopt(std::span<const TransactionParcel> parcels) {
  store_.writer.write(move_points, [&](Connection& db) {
    for (const auto& parcel : parcels) {
      auto waits = db.run("SELECT 1 FROM hf.tasks WHERE id = $1 AND state <> {running} FOR UPDATE",
                          parcel.id);
      if (waits.next()) queue_parcel(db, parcel);
    }
  });
}

}  // namespace holdfast::postgres
