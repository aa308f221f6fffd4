#include <algorithm>

#include "engines/postgres/batch_statements.hpp"
#include "engines/postgres/statements.hpp"

namespace holdfast::postgres {

namespace {

/// When another program sums a batch up, this is how long we wait to see what came of it.
constexpr Millis until_the_other_is_done{1'000};

void add_json(Array& column, const std::string& json) {
  json.empty() ? column.add_null() : column.add(json);
}

/// Ends of rows, as columns.
class RowEnds {
 public:
  void add(std::size_t place, const UnitEnd& end) {
    places_.add(static_cast<std::int64_t>(place));
    rows_.add(*row_of(end.lease.id));
    tokens_.add(end.lease.token);
    to_.add(to_string(end.to));
    add_json(results_, end.result);
    add_json(messages_, end.messages);
    add_json(outputs_, end.output);
    attempts_.add(end.attempt);
    were_attempts_.add(end.was_attempt);
    delays_.add(end.delay);
  }
  bool empty() const { return rows_.size() == 0; }

  /// Places of those that were accepted, and whether they are queued again. A row must be in
  /// progress, and claimed under the token of the one who ends it, in the same step.
  Rows run(Connection& db) const {
    return db.run(
        "WITH held AS MATERIALIZED (SELECT s.*, c.batch FROM unnest($1::bigint[], $2::bigint[],"
        " $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],"
        " $9::boolean[], $10::bigint[]) AS s(place, batchrow, token, to_status, result, messages,"
        " output, attempt, was_attempt, delay) JOIN hf.batch_claims c"
        " ON" HOLDFAST_NUMBERED("c.batchrow", "s.batchrow") "AND c.token = s.token"
        " AND" HOLDFAST_HELD "FOR UPDATE OF c),"
        " ended AS (UPDATE alya.batchrows r SET status = h.to_status::alya.status_enum,"
        " doneat = CASE WHEN h.to_status <> 'queued' THEN" HOLDFAST_NOW
        "END, res = h.result::jsonb,"
        " messages = h.messages::jsonb, blobrows = h.output::jsonb,"
        " doneby = CASE WHEN h.to_status <> 'queued' THEN r.doneby END FROM held h"
        " WHERE" HOLDFAST_NUMBERED("r.rowid", "h.batchrow") "AND" HOLDFAST_IN_PROGRESS
        " RETURNING h.place, h.to_status),"
        // Also where the row is not in progress any more because a program that knows nothing of
        // claims took it away: then there is nothing left to hold.
        " gone AS (DELETE FROM hf.batch_claims c USING held h WHERE" HOLDFAST_NUMBERED(
            "c.batchrow", "h.batchrow") "AND c.batch = h.batch AND h.to_status <> 'queued'),"
        " back AS (UPDATE hf.batch_claims c SET owner = NULL, lease_until = NULL,"
        " attempt = h.attempt, run_at = CASE WHEN h.delay > 0 THEN {wall} + h.delay ELSE 0 END,"
        " suspect = c.suspect AND NOT h.was_attempt FROM held h WHERE" HOLDFAST_NUMBERED(
            "c.batchrow", "h.batchrow") "AND c.batch = h.batch AND h.to_status = 'queued')"
        " SELECT place, to_status = 'queued' FROM ended",
        places_.value(), rows_.value(), tokens_.value(), to_.value(), results_.value(),
        messages_.value(), outputs_.value(), attempts_.value(), were_attempts_.value(),
        delays_.value());
  }

 private:
  Array places_{Type::bigint}, rows_{Type::bigint}, tokens_{Type::bigint}, to_{Type::text},
      results_{Type::text}, messages_{Type::text}, outputs_{Type::text}, attempts_{Type::bigint},
      were_attempts_{Type::boolean}, delays_{Type::bigint};
};

bool holds_summary(Connection& db, BatchId batch, Token token) {
  return db
      .run(
          "SELECT 1 FROM hf.batch_claims WHERE batchrow = 0 AND batch = $1 AND token = $2"
          " AND owner IS NOT NULL FOR UPDATE",
          uuid(batch), token)
      .next();
}

void let_go_of_summary(Connection& db, BatchId batch, const UnitEnd& end, Millis delay) {
  db.run(
      "UPDATE hf.batch_claims SET owner = NULL, lease_until = NULL, attempt = $2,"
      " run_at = {wall} + $3, suspect = suspect AND NOT $4 WHERE batchrow = 0 AND batch = $1",
      uuid(batch), end.attempt, delay, end.was_attempt);
}

/// The lock under which every program that shares the tables sums a batch up.
bool lock_summary(Connection& db, BatchId batch) {
  auto row =
      db.run("SELECT pg_try_advisory_xact_lock(('x' || substr(md5($1), 1, 16))::bit(64)::bigint)",
             batch.text());
  return row.next() && row.yes(0);
}

bool end_batch(Connection& db, const UnitEnd& end) {
  auto batch = batch_of_summary(end.lease.id);
  if (!holds_summary(db, batch, end.lease.token)) return false;
  if (end.to == BatchStatus::queued) {
    let_go_of_summary(db, batch, end, end.delay);
    return true;
  }
  if (!lock_summary(db, batch)) {
    let_go_of_summary(db, batch, end, until_the_other_is_done);
    return true;
  }
  std::optional<std::string> output;
  if (!end.output.empty()) output = end.output;
  auto ended =
      db.run("UPDATE alya.batches b SET status = $2::text::alya.status_enum, doneat =" HOLDFAST_NOW
             ", outputfiles = $3::text::jsonb, nsuccess = $4, nfailed = $5, naborted = $6"
             " WHERE b.id = $1 AND b.doneat IS NULL AND b.status IN ('queued', 'inprog')"
             " AND" HOLDFAST_NO_OPEN_ROWS,
             uuid(batch), to_string(end.to), output, end.counts[BatchStatus::success],
             end.counts[BatchStatus::failed], end.counts[BatchStatus::aborted]);
  db.run("DELETE FROM hf.batch_claims WHERE batchrow = 0 AND batch = $1", uuid(batch));
  if (ended.changed() != 1) return false;
  if (!end.follow_ups.empty()) insert_tasks(db, end.follow_ups, InsertAs::follow_up);
  return true;
}

}  // namespace

void LeaseColumns::add(const Lease& lease) {
  auto row = row_of(lease.id);
  rows.add(row.value_or(0));
  batches.add(lease.id);
  tokens.add(lease.token);
}

EndedUnits end_units(Connection& db, std::span<const UnitEnd> ends) {
  EndedUnits ended;
  ended.settled.assign(ends.size(), Settled::refused);
  RowEnds rows;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (row_of(ends[i].lease.id)) {
      rows.add(i, ends[i]);
    } else if (end_batch(db, ends[i])) {
      ended.settled[i] = Settled::accepted;
      ended.news = true;
    }
  }
  if (rows.empty()) return ended;
  auto accepted = rows.run(db);
  while (accepted.next()) {
    ended.settled[static_cast<std::size_t>(accepted.integer(0))] = Settled::accepted;
    ended.news |= accepted.yes(1);
  }
  return ended;
}

}  // namespace holdfast::postgres
