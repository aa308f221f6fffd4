#include <fmt/format.h>

#include "engines/sqlite/batch_statements.hpp"
#include "engines/sqlite/batch_store.hpp"
#include "engines/sqlite/orphaned.hpp"
#include "engines/sqlite/report_rows.hpp"

namespace holdfast::sqlite {

namespace {

Orphan read_unit(const Statement& row) {
  constexpr int rest = orphan_columns;
  auto orphan = read_orphan(row);
  auto batch = batch_id(row, rest + 1);
  bool is_row = row.integer(rest) != 0;
  orphan.lease.id = is_row ? unit_of_row(row.integer(rest)) : unit_of_summary(batch);
  orphan.name = is_row ? name_of_row(batch, row.integer(rest + 4)) : name_of_summary(batch);
  orphan.kind = unit_kind(row.text(rest + 2), row.text(rest + 3));
  return orphan;
}

struct TakenRow {
  UnitKey key{};
  std::optional<WorkerId> worker{};
  std::string what{};  ///< for people
};

/// The unit, if it still is what the verdict was about.
std::optional<TakenRow> find_orphaned_row(Connection& db, const Verdict& verdict, Millis now,
                                          const std::string& domain) {
  auto key = find_claim(db, verdict.lease);
  if (!key) return {};
  auto find = db.use(
      "SELECT w.id, b.id, r.line FROM holdfast_batch_claims c JOIN holdfast_batches b"
      " ON b.seq = c.batch LEFT JOIN holdfast_batchrows r ON r.seq = c.row"
      " LEFT JOIN holdfast_workers w ON w.seq = c.owner"
      " WHERE c.row = ?1 AND c.batch = ?2 AND" HOLDFAST_STILL_ORPHANED("c", "?5"));
  if (!find.bind(key->row, key->batch, now, domain, end_believed(verdict)).step()) return {};
  TakenRow taken{.key = *key};
  if (!find.is_null(0)) taken.worker = find.worker_id(0);
  auto batch = batch_id(find, 1).text();
  taken.what = key->row != 0 ? fmt::format("Line {} of batch {}", find.integer(2), batch)
                             : fmt::format("The summary of batch {}", batch);
  return taken;
}

void take_back(Connection& db, const Verdict& verdict, const UnitKey& key, WallTime now,
               std::int64_t token_floor) {
  if (verdict.to != TaskState::pending) {
    auto messages = messages_about(verdict.reason);
    db.use(
          "UPDATE holdfast_batchrows SET status = 3, doneat = ?, messages = ? WHERE seq = ?"
          " AND status = 1")
        .bind(now, messages, key.row)
        .run();
    db.use("DELETE FROM holdfast_batch_claims WHERE row = ? AND batch = ?")
        .bind(key.row, key.batch)
        .run();
    return;
  }
  db.use("UPDATE holdfast_batchrows SET status = 0, doneby = NULL WHERE seq = ? AND status = 1")
      .bind(key.row)
      .run();
  auto run_at = verdict.delay > Millis{0} ? now + verdict.delay : WallTime{};
  db.use(
        "UPDATE holdfast_batch_claims SET owner = NULL, lease_until = NULL,"
        " token = max(token + 1, ?3), attempt = ?4, crashes = ?5, recoveries = recoveries + 1,"
        " suspect = ?6, run_at = ?7 WHERE row = ?1 AND batch = ?2")
      .bind(key.row, key.batch, token_floor, verdict.attempt, verdict.crashes, verdict.suspect,
            run_at)
      .run();
}

}  // namespace

std::vector<Renewal> SqliteBatchStore::renew(std::span<const Lease> leases, Millis length) {
  return store_.writer.write(renew_points, [&](Connection& db) {
    std::vector<Renewal> renewals;
    renewals.reserve(leases.size());
    for (const auto& lease : leases) {
      auto key = find_claim(db, lease);
      renewals.push_back(key ? Renewal::kept : Renewal::lost);
      if (!key) continue;
      db.use("UPDATE holdfast_batch_claims SET lease_until = ?3 WHERE row = ?1 AND batch = ?2")
          .bind(key->row, key->batch, store_.clock.steady() + length)
          .run();
    }
    return renewals;
  });
}

std::vector<Orphan> SqliteBatchStore::orphans(int limit, std::span<const WorkerId> as_if_buried) {
  auto presumed = hex_list(as_if_buried);
  return store_.reader.read([&](Connection& db) {
    std::vector<Orphan> found;
    auto query = db.use("SELECT" HOLDFAST_ORPHAN_COLUMNS(
        "c") ", c.row, b.id, b.app, b.op, r.line"
             " FROM holdfast_batch_claims c INDEXED BY holdfast_batch_held"
             " CROSS JOIN holdfast_batches b ON b.seq = c.batch"
             " LEFT JOIN holdfast_batchrows r ON r.seq = c.row"
             " LEFT JOIN holdfast_workers w ON w.seq = c.owner"
             " WHERE c.owner IS NOT NULL AND (" HOLDFAST_PRESUMED_DEAD
             "OR" HOLDFAST_ORPHANED("c") ")");
    query.bind(presumed, nullptr, store_.clock.steady(), store_.clock_domain);
    while (static_cast<int>(found.size()) < limit && query.step())
      found.push_back(read_unit(query));
    return found;
  });
}

std::vector<bool> SqliteBatchStore::reclaim(std::span<const Verdict> verdicts,
                                            const ReportHead& report) {
  auto reclaimed = store_.writer.write(reclaim_points, [&](Connection& db) {
    std::vector<bool> done;
    auto now = store_.clock.wall();
    ReportEntries entries{db, report, now};
    for (const auto& verdict : verdicts) {
      auto taken = find_orphaned_row(db, verdict, store_.clock.steady(), store_.clock_domain);
      done.push_back(taken.has_value());
      if (!taken) continue;
      take_back(db, verdict, taken->key, now, store_.token_floor());
      auto reason = fmt::format("{}: {}", taken->what, verdict.reason);
      entries.add({.id = verdict.lease.id,
                   .now = verdict.to,
                   .attempt = verdict.attempt,
                   .max_attempts = 0,
                   .worker = taken->worker,
                   .reason = reason});
    }
    entries.finish();
    return done;
  });
  store_.watch.announce_work();
  return reclaimed;
}

}  // namespace holdfast::sqlite
