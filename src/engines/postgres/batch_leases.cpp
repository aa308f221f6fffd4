#include <fmt/format.h>

#include "engines/postgres/batch_statements.hpp"
#include "engines/postgres/batch_store.hpp"
#include "engines/postgres/orphaned.hpp"
#include "engines/postgres/report_entries.hpp"

namespace holdfast::postgres {

namespace {

/// The claim `c` that lease `s` is about.
#define HOLDFAST_CLAIM_OF_LEASE                 \
  HOLDFAST_NUMBERED("c.batchrow", "s.batchrow") \
  "AND (s.batchrow <> 0 OR c.batch = s.batch) AND c.token = s.token AND" HOLDFAST_HELD

/// Nobody of ours has row `r`: if it is in progress, then with somebody who knows nothing of
/// claims.
#define HOLDFAST_NOT_CLAIMED                                                \
  " NOT EXISTS (SELECT 1 FROM hf.batch_claims c WHERE c.batchrow = r.rowid" \
  " AND" HOLDFAST_HELD ") "

/// The owner of claims that were made for rows which nobody had claimed.
#define HOLDFAST_NOBODY " '00000000-0000-0000-0000-000000000000'::uuid "

Orphan read_unit(const Rows& row) {
  constexpr int rest = orphan_columns;
  auto orphan = read_orphan(row);
  // Nothing is known of the end of whoever had it, so the row is no suspect.
  if (orphan.worker.is_nil()) orphan.expired = true;
  auto batch = batch_id(row, rest + 1);
  bool is_row = row.integer(rest) != 0;
  orphan.lease.id = is_row ? unit_of_row(row.integer(rest)) : unit_of_summary(batch);
  orphan.name = is_row ? name_of_row(batch, row.integer(rest + 3)) : name_of_summary(batch);
  if (!row.is_null(rest + 2)) orphan.kind = row.text(rest + 2);
  return orphan;
}

/// A reclaim of many: looks which verdicts still hold, then applies those.
class ReclaimingRows {
 public:
  ReclaimingRows(Connection& db, std::span<const Verdict> verdicts, const ReportHead& report)
      : db_{db}, verdicts_{verdicts}, entries_{report} {}

  std::vector<bool> run() {
    std::vector<bool> done(verdicts_.size());
    auto rows = lock_orphans();
    while (rows.next()) {
      auto place = static_cast<std::size_t>(rows.integer(0)) - 1;
      done[place] = true;
      note(verdicts_[place], rows);
    }
    if (rows_.size() == 0) return done;
    apply();
    entries_.queue(db_);
    db_.run("SELECT 1");  // with which goes what is queued
    return done;
  }

 private:
  Rows lock_orphans() {
    LeaseColumns leases;
    Array ends{Type::bigint};
    for (const auto& verdict : verdicts_) {
      leases.add(verdict.lease);
      verdict.expired ? ends.add(verdict.lease_until) : ends.add_null();
    }
    return db_.run("SELECT s.n, c.batchrow, c.batch, nullif(c.owner," HOLDFAST_NOBODY
                   "), r.line::bigint FROM unnest($1::bigint[], $2::uuid[], $3::bigint[],"
                   " $4::bigint[]) WITH ORDINALITY AS s(batchrow, batch, token, until, n)"
                   " JOIN hf.batch_claims c ON" HOLDFAST_CLAIM_OF_LEASE
                   "LEFT JOIN alya.batchrows r ON r.rowid = c.batchrow"
                   " LEFT JOIN hf.workers w ON w.id = c.owner WHERE" HOLDFAST_STILL_ORPHANED(
                       "c", "s.until") "ORDER BY c.batchrow, c.batch FOR UPDATE OF c SKIP LOCKED",
                   leases.rows.value(), leases.batches.value(), leases.tokens.value(),
                   ends.value());
  }

  void note(const Verdict& verdict, const Rows& row) {
    auto batch = batch_id(row, 2);
    rows_.add(row.integer(1));
    batches_.add(uuid(batch));
    failed_.add(verdict.to != TaskState::pending);
    attempts_.add(verdict.attempt);
    crashes_.add(verdict.crashes);
    suspects_.add(verdict.suspect);
    delays_.add(verdict.delay);
    messages_.add(messages_about(verdict.reason));
    auto reason =
        row.integer(1) != 0
            ? fmt::format("Line {} of batch {}: {}", row.integer(4), batch.text(), verdict.reason)
            : fmt::format("The summary of batch {}: {}", batch.text(), verdict.reason);
    entries_.add({.id = verdict.lease.id,
                  .now = verdict.to,
                  .attempt = verdict.attempt,
                  .max_attempts = 0,
                  .worker = row.optional_worker(3),
                  .reason = reason});
  }

  void apply() {
    db_.queue(
        "WITH v AS MATERIALIZED (SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::boolean[],"
        " $4::bigint[], $5::bigint[], $6::boolean[], $7::bigint[], $8::text[]) AS v(batchrow,"
        " batch, failed, attempt, crashes, suspect, delay, messages)),"
        " gone AS (DELETE FROM hf.batch_claims c USING v WHERE c.batchrow = v.batchrow"
        " AND c.batch = v.batch AND v.failed),"
        " back AS (UPDATE hf.batch_claims c SET owner = NULL, lease_until = NULL,"
        " token = greatest(c.token + 1, {micros}), attempt = v.attempt, crashes = v.crashes,"
        " recoveries = c.recoveries + 1, suspect = v.suspect, run_at = CASE WHEN v.delay > 0"
        " THEN {wall} + v.delay ELSE 0 END FROM v WHERE c.batchrow = v.batchrow"
        " AND c.batch = v.batch AND NOT v.failed)"
        " UPDATE alya.batchrows r SET status = CASE WHEN v.failed THEN"
        " 'failed'::alya.status_enum ELSE 'queued'::alya.status_enum END,"
        " doneat = CASE WHEN v.failed THEN" HOLDFAST_NOW
        "END, messages = CASE WHEN v.failed THEN"
        " v.messages::jsonb END, doneby = CASE WHEN v.failed THEN r.doneby END FROM v"
        " WHERE r.rowid = v.batchrow AND" HOLDFAST_IN_PROGRESS,
        rows_.value(), batches_.value(), failed_.value(), attempts_.value(), crashes_.value(),
        suspects_.value(), delays_.value(), messages_.value());
  }

  Connection& db_;
  std::span<const Verdict> verdicts_;
  ReportEntries entries_;
  Array rows_{Type::bigint}, batches_{Type::uuid}, failed_{Type::boolean}, attempts_{Type::bigint},
      crashes_{Type::bigint}, suspects_{Type::boolean}, delays_{Type::bigint},
      messages_{Type::text};
};

}  // namespace

std::vector<Renewal> PostgresBatchStore::renew(std::span<const Lease> leases, Millis length) {
  if (leases.empty()) return {};
  LeaseColumns columns;
  for (const auto& lease : leases) columns.add(lease);
  return store().writer.write(renew_points, [&](Connection& db) {
    std::vector<Renewal> renewals(leases.size(), Renewal::lost);
    auto rows = db.run(
        "UPDATE hf.batch_claims c SET lease_until = {steady} + $4 FROM unnest($1::bigint[],"
        " $2::uuid[], $3::bigint[]) WITH ORDINALITY AS s(batchrow, batch, token, n)"
        " WHERE" HOLDFAST_CLAIM_OF_LEASE "RETURNING s.n",
        columns.rows.value(), columns.batches.value(), columns.tokens.value(), length);
    while (rows.next()) renewals[static_cast<std::size_t>(rows.integer(0)) - 1] = Renewal::kept;
    return renewals;
  });
}

std::vector<Orphan> PostgresBatchStore::orphans(int limit, std::span<const WorkerId> as_if_buried) {
  if (!has_tables()) return {};
  return store().reader.read([&](Connection& db) {
    std::vector<Orphan> found;
    auto rows = db.run(
        "SELECT" HOLDFAST_ORPHAN_COLUMNS("c")
        ", c.batchrow, c.batch, b.app || '/' || b.op, coalesce(r.line, 0)::bigint"
        " FROM hf.batch_claims c LEFT JOIN alya.batches b ON b.id = c.batch"
        " LEFT JOIN alya.batchrows r ON r.rowid = c.batchrow"
        " LEFT JOIN hf.workers w ON w.id = c.owner"
        " WHERE c.owner IS NOT NULL AND (w.id = ANY($1) OR" HOLDFAST_ORPHANED("c") ") LIMIT $2",
        as_if_buried, limit);
    while (rows.next()) found.push_back(read_unit(rows));
    return found;
  });
}

std::vector<UnclaimedRow> PostgresBatchStore::unclaimed(const Unclaimed& which) {
  if (!has_tables()) return {};
  Array left{Type::bigint}, at_work{Type::bigint};
  for (auto row : which.left) left.add(row);
  for (auto row : which.at_work) at_work.add(row);
  return store().writer.write(reclaim_points, [&](Connection& db) {
    // Those that are not so any more are forgotten first, so that the time of one which is begun
    // again counts from then. Those of the future were seen before the clock was set back.
    db.queue(
        "DELETE FROM hf.batch_sightings s WHERE s.batchrow = ANY($1) OR s.seen_at > {wall}"
        " OR NOT EXISTS (SELECT 1"
        " FROM alya.batchrows r WHERE r.rowid = s.batchrow AND" HOLDFAST_IN_PROGRESS
        ") OR EXISTS (SELECT 1 FROM hf.batch_claims c WHERE c.batchrow = s.batchrow"
        " AND c.owner IS NOT NULL)",
        at_work.value());
    db.queue(
        "INSERT INTO hf.batch_sightings (batchrow, seen_at) SELECT r.rowid, {wall}"
        " FROM alya.batchrows r WHERE r.status = 'inprog' AND" HOLDFAST_NOT_CLAIMED
        "AND r.rowid <> ALL($1) ON CONFLICT (batchrow) DO NOTHING",
        at_work.value());
    auto rows = db.run(
        "SELECT batchrow, seen_at, batchrow = ANY($2) FROM hf.batch_sightings"
        " WHERE seen_at <= {wall} - $1::bigint OR batchrow = ANY($2)",
        which.seen_for, left.value());
    std::vector<UnclaimedRow> found;
    while (rows.next()) found.push_back({rows.integer(0), rows.integer(1), rows.yes(2)});
    return found;
  });
}

void PostgresBatchStore::claim_for_nobody(std::span<const UnclaimedRow> unclaimed) {
  Array rows{Type::bigint}, seen_at{Type::bigint};
  for (const auto& one : unclaimed) {
    rows.add(one.row);
    seen_at.add(one.seen_at);
  }
  store().writer.write(reclaim_points, [&](Connection& db) {
    db.run(
        "WITH gone AS (DELETE FROM hf.batch_sightings s USING unnest($1::bigint[], $2::bigint[])"
        " AS v(batchrow, seen_at) WHERE s.batchrow = v.batchrow AND s.seen_at = v.seen_at"
        " RETURNING s.batchrow)"
        " INSERT INTO hf.batch_claims (batchrow, batch, token, owner, lease_until, claimed_at)"
        " SELECT r.rowid, r.batch, {micros}," HOLDFAST_NOBODY
        ", 0, {wall} FROM gone JOIN alya.batchrows r ON r.rowid = gone.batchrow"
        " WHERE" HOLDFAST_IN_PROGRESS
        "ON CONFLICT (batchrow, batch) DO UPDATE SET owner = excluded.owner, lease_until = 0,"
        " token = greatest(batch_claims.token + 1, excluded.token),"
        " claimed_at = excluded.claimed_at WHERE batch_claims.owner IS NULL",
        rows.value(), seen_at.value());
  });
}

std::vector<bool> PostgresBatchStore::reclaim(std::span<const Verdict> verdicts,
                                              const ReportHead& report) {
  auto reclaimed = store().writer.write(reclaim_points, [&](Connection& db) {
    return ReclaimingRows{db, verdicts, report}.run();
  });
  store_.session.announce_work();
  return reclaimed;
}

}  // namespace holdfast::postgres
