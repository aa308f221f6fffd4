#include <algorithm>

#include "engines/sqlite/batch_statements.hpp"

namespace holdfast::sqlite {

namespace {

/// Empty text is no JSON.
std::optional<std::string_view> kept(const std::string& json) {
  if (json.empty()) return {};
  return json;
}

/// Gives a unit back: whoever may have it next finds how often it was tried.
void let_go(Connection& db, const UnitKey& key, const UnitEnd& end, WallTime now) {
  auto run_at = end.delay > Millis{0} ? now + end.delay : WallTime{};
  db.use(
        "UPDATE holdfast_batch_claims SET owner = NULL, lease_until = NULL, attempt = ?3,"
        " run_at = ?4, suspect = iif(?5, 0, suspect) WHERE row = ?1 AND batch = ?2")
      .bind(key.row, key.batch, end.attempt, run_at, end.was_attempt)
      .run();
}

void forget_claim(Connection& db, const UnitKey& key) {
  db.use("DELETE FROM holdfast_batch_claims WHERE row = ? AND batch = ?")
      .bind(key.row, key.batch)
      .run();
}

bool end_row(Connection& db, const UnitKey& key, const UnitEnd& end, WallTime now) {
  if (end.to == BatchStatus::queued) {
    db.use("UPDATE holdfast_batchrows SET status = 0, doneby = NULL WHERE seq = ? AND status = 1")
        .bind(key.row)
        .run();
    if (db.changes() != 1) return false;
    let_go(db, key, end, now);
    return true;
  }
  auto result = kept(end.result), messages = kept(end.messages), output = kept(end.output);
  db.use(
        "UPDATE holdfast_batchrows SET status = ?2, doneat = ?3, res = ?4, messages = ?5,"
        " blobrows = ?6 WHERE seq = ?1 AND status = 1")
      .bind(key.row, static_cast<int>(end.to), now, result, messages, output)
      .run();
  if (db.changes() != 1) return false;
  forget_claim(db, key);
  return true;
}

bool end_batch(Connection& db, const UnitKey& key, const UnitEnd& end, WallTime now) {
  if (end.to == BatchStatus::queued) {
    let_go(db, key, end, now);
    return true;
  }
  if (has_open_rows(db, key.batch)) return false;
  auto output = kept(end.output);
  db.use(
        "UPDATE holdfast_batches SET status = ?2, doneat = ?3, outputfiles = ?4, nsuccess = ?5,"
        " nfailed = ?6, naborted = ?7 WHERE seq = ?1 AND status < 2")
      .bind(key.batch, static_cast<int>(end.to), now, output, end.counts[BatchStatus::success],
            end.counts[BatchStatus::failed], end.counts[BatchStatus::aborted])
      .run();
  if (db.changes() != 1) return false;
  forget_claim(db, key);
  insert_tasks(db, end.follow_ups, now);
  return true;
}

}  // namespace

std::optional<UnitKey> find_claim(Connection& db, const Lease& lease) {
  if (auto row = row_of(lease.id)) {
    auto find = db.use(
        "SELECT batch FROM holdfast_batch_claims WHERE row = ? AND token = ? AND owner IS NOT "
        "NULL");
    if (!find.bind(*row, lease.token).step()) return {};
    return UnitKey{*row, find.integer(0)};
  }
  auto find = db.use(
      "SELECT c.batch FROM holdfast_batches b JOIN holdfast_batch_claims c ON c.row = 0"
      " AND c.batch = b.seq WHERE b.id = ? AND c.token = ? AND c.owner IS NOT NULL");
  if (!find.bind(lease.id, lease.token).step()) return {};
  return UnitKey{0, find.integer(0)};
}

EndedUnits end_units(Connection& db, std::span<const UnitEnd> ends, WallTime now) {
  EndedUnits ended;
  ended.settled.reserve(ends.size());
  std::set<std::int64_t> touched;
  for (const auto& end : ends) {
    auto key = find_claim(db, end.lease);
    bool accepted =
        key && (key->row != 0 ? end_row(db, *key, end, now) : end_batch(db, *key, end, now));
    ended.settled.push_back(accepted ? Settled::accepted : Settled::refused);
    if (!accepted) continue;
    if (key->row != 0) touched.insert(key->batch);
    // A row that comes back, or what follows the end of a batch.
    ended.news |= end.to == BatchStatus::queued || key->row == 0;
  }
  // And where that was the last row, somebody may sum up.
  ended.news |=
      std::ranges::any_of(touched, [&](std::int64_t batch) { return !has_open_rows(db, batch); });
  return ended;
}

}  // namespace holdfast::sqlite
