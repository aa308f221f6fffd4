#include <algorithm>
#include <unordered_map>

#include "engines/postgres/batch_statements.hpp"

namespace holdfast::postgres {

namespace {

/// So many batches are looked at for rows at a time, the oldest first.
constexpr int most_batches = 100;

#define HOLDFAST_OPEN_BATCHES                                                        \
  " FROM alya.batches b WHERE b.status IN ('queued', 'inprog') AND b.doneat IS NULL" \
  " AND b.app || '/' || b.op = ANY($1) "

/// Begins rows of the batches $1, at most $2 of each, in the name of $3, and claims them. Rows are
/// locked, batches are not, so that nobody waits for anybody. `which` are those that come into
/// question. What was begun comes back in rows of the first kind, its claims in those of the
/// second.
// clang-format off
#define HOLDFAST_BEGIN_ROWS(which)                                                               \
  "WITH picked AS MATERIALIZED (SELECT r.rowid FROM unnest($1::uuid[], $2::bigint[])"            \
  " AS o(batch, most) CROSS JOIN LATERAL (SELECT r.rowid FROM alya.batchrows r"                  \
  " WHERE" HOLDFAST_ROW_OF("o.batch", "queued") "AND " which                                     \
  " LIMIT o.most FOR UPDATE OF r SKIP LOCKED) r),"                                               \
  " begun AS (UPDATE alya.batchrows r SET status = 'inprog', doneby = $3 FROM picked p"          \
  " WHERE" HOLDFAST_NUMBERED("r.rowid", "p.rowid")                                               \
  "RETURNING r.rowid, r.batch, r.line, r.input::text AS input),"                                 \
  " claimed AS (INSERT INTO hf.batch_claims AS c (batchrow, batch, token, owner, lease_until,"   \
  " claimed_at, attempt) SELECT rowid, batch, {micros}, $4, {steady} + $5, {wall}, 1 FROM begun" \
  " ON CONFLICT (batchrow, batch) DO UPDATE SET token = greatest(c.token + 1, excluded.token),"  \
  " owner = excluded.owner, lease_until = excluded.lease_until,"                                 \
  " claimed_at = excluded.claimed_at, attempt = c.attempt + 1"                                   \
  " RETURNING c.batchrow, c.token, c.attempt, c.suspect)"                                        \
  " SELECT rowid, batch, line::bigint, input, NULL::bigint, NULL::bigint, false FROM begun"      \
  " UNION ALL SELECT batchrow, NULL, NULL, NULL, token, attempt::bigint, suspect FROM claimed"
// clang-format on

constexpr const char* plain_rows = HOLDFAST_BEGIN_ROWS(
    "NOT EXISTS (SELECT 1 FROM hf.batch_claims c WHERE c.batchrow = r.rowid"
    " AND c.batch = r.batch AND (c.suspect OR c.run_at > {wall}))");
constexpr const char* suspect_rows = HOLDFAST_BEGIN_ROWS(
    "r.rowid IN (SELECT c.batchrow FROM hf.batch_claims c WHERE c.batch = o.batch"
    " AND c.owner IS NULL AND c.suspect AND c.run_at <= {wall})");

struct OpenBatch {
  BatchId id{};
  std::string kind{};
  bool queued = false;
};

std::vector<OpenBatch> open_batches(Connection& db, const ClaimRequest& request) {
  std::vector<OpenBatch> open;
  auto rows = db.run("SELECT b.id, b.app || '/' || b.op, b.status = 'queued'" HOLDFAST_OPEN_BATCHES
                     "ORDER BY b.reqat, b.id LIMIT $2",
                     request.kinds, most_batches);
  while (rows.next()) open.push_back({batch_id(rows, 0), rows.text(1), rows.yes(2)});
  return open;
}

class ClaimingRows {
 public:
  ClaimingRows(Connection& db, const ClaimRequest& request, Exchanged& into)
      : db_{db}, request_{request}, into_{into}, open_{open_batches(db, request)} {}

  void run() {
    if (open_.empty()) return;
    // A long batch is not to keep a short one waiting: all get their share, and what is left of it
    // goes to the oldest that have more.
    auto share = std::max(1, room() / static_cast<int>(open_.size()));
    take(plain_rows, open_, share);
    for (const auto& batch : open_) {
      if (room() == 0) break;
      if (std::ranges::count(begun_, batch.id) >= share) take(plain_rows, {&batch, 1}, room());
    }
    for (const auto& batch : open_) {
      if (room() == 0 || suspects_ == 0) break;
      take(suspect_rows, {&batch, 1}, std::min(suspects_, room()));
    }
    mark_begun();
  }

 private:
  int room() const { return request_.limit - static_cast<int>(into_.claimed.size()); }

  void take(const char* which, std::span<const OpenBatch> from, int each) {
    Array batches{Type::uuid}, limits{Type::bigint};
    for (const auto& batch : from.first(std::min(from.size(), static_cast<std::size_t>(room())))) {
      batches.add(uuid(batch.id));
      limits.add(each);
    }
    if (batches.size() == 0) return;
    read(db_.run(which, batches.value(), limits.value(), request_.worker.text(), request_.worker,
                 request_.lease));
  }

  void read(Rows rows) {
    auto first = into_.claimed.size();
    std::unordered_map<std::int64_t, std::size_t> places;
    while (rows.next()) {
      auto row = rows.integer(0);
      if (!rows.is_null(1)) {
        places[row] = into_.claimed.size();
        Claimed one;
        one.lease.id = unit_of_row(row);
        auto batch = batch_id(rows, 1);
        auto found = std::ranges::find(open_, batch, &OpenBatch::id);
        one.kind = found->kind;
        begun_.push_back(batch);
        one.payload = pack({batch, rows.small(2), rows.text(3)});
        into_.claimed.push_back(std::move(one));
      } else {
        auto& one = into_.claimed[places.at(row)];
        one.lease.token = Token{rows.integer(4)};
        one.attempt = rows.small(5);
        one.suspect = rows.yes(6);
        suspects_ -= one.suspect;
      }
    }
    std::sort(into_.claimed.begin() + static_cast<std::ptrdiff_t>(first), into_.claimed.end(),
              [](const Claimed& a, const Claimed& b) { return a.lease.id < b.lease.id; });
  }

  void mark_begun() {
    Array ids{Type::uuid};
    for (const auto& batch : open_)
      if (batch.queued && std::ranges::count(begun_, batch.id) > 0) ids.add(uuid(batch.id));
    if (ids.size() == 0) return;
    db_.run("UPDATE alya.batches SET status = 'inprog' WHERE id = ANY($1) AND status = 'queued'",
            ids.value());
  }

  Connection& db_;
  const ClaimRequest& request_;
  Exchanged& into_;
  std::vector<OpenBatch> open_;
  std::vector<BatchId> begun_;  // of each row that was begun
  int suspects_ = request_.max_suspects;
};

}  // namespace

void claim_rows(Connection& db, const ClaimRequest& request, Exchanged& into) {
  auto alive = db.run(
      "SELECT 1 FROM hf.workers WHERE id = $1 AND died_at IS NULL AND stopped_at IS NULL"
      " FOR SHARE",
      request.worker);
  into.buried = !alive.next();
  if (!into.buried) ClaimingRows{db, request, into}.run();
}

std::vector<Complete> complete_batches(Connection& db, const ClaimRequest& request, int limit) {
  std::vector<Complete> complete;
  auto rows =
      db.run("SELECT b.id, b.app || '/' || b.op" HOLDFAST_OPEN_BATCHES "AND" HOLDFAST_NO_OPEN_ROWS
             "AND NOT EXISTS (SELECT 1 FROM hf.batch_claims c WHERE c.batchrow = 0"
             " AND c.batch = b.id AND (c.owner IS NOT NULL OR c.run_at > {wall}))"
             " ORDER BY b.reqat, b.id LIMIT $2",
             request.kinds, limit);
  while (rows.next()) complete.push_back({batch_id(rows, 0), rows.text(1)});
  return complete;
}

void claim_summaries(Connection& db, const ClaimRequest& request,
                     std::span<const Complete> complete, Exchanged& into) {
  Array batches{Type::uuid};
  for (const auto& one : complete) batches.add(uuid(one.id));
  // The worker may have been declared dead since it claimed rows.
  auto rows = db.run(
      "INSERT INTO hf.batch_claims AS c (batchrow, batch, token, owner, lease_until, claimed_at,"
      " attempt) SELECT 0, s.batch, {micros}, w.id, {steady} + $3, {wall}, 1"
      " FROM unnest($1::uuid[]) AS s(batch) CROSS JOIN (SELECT id FROM hf.workers WHERE id = $2"
      " AND died_at IS NULL AND stopped_at IS NULL FOR SHARE) w"
      " ON CONFLICT (batchrow, batch) DO UPDATE SET token = greatest(c.token + 1, excluded.token),"
      " owner = excluded.owner, lease_until = excluded.lease_until,"
      " claimed_at = excluded.claimed_at, attempt = c.attempt + 1"
      " WHERE c.owner IS NULL AND c.run_at <= {wall}"
      " RETURNING c.batch, c.token, c.attempt",
      batches.value(), request.worker, request.lease);
  while (rows.next()) {
    auto batch = batch_id(rows, 0);
    auto found = std::ranges::find(complete, batch, &Complete::id);
    Claimed one;
    one.lease = {unit_of_summary(batch), Token{rows.integer(1)}};
    one.attempt = rows.small(2);
    one.kind = found->kind;
    one.payload = pack({batch, 0, {}});
    into.claimed.push_back(std::move(one));
  }
}

std::optional<WallTime> earliest_unit(Connection& db, const ClaimRequest& request) {
  // What was never claimed is ready; what was, says when; a batch without open rows is ready unless
  // somebody is at its summary.
  auto rows = db.run(
      "SELECT min(x.due) FROM (SELECT b.id" HOLDFAST_OPEN_BATCHES
      ") b CROSS JOIN LATERAL ((SELECT 0::bigint AS due FROM alya.batchrows r"
      " WHERE r.batch = b.id AND r.status = 'queued' AND NOT EXISTS (SELECT 1"
      " FROM hf.batch_claims c WHERE c.batchrow = r.rowid AND c.batch = r.batch) LIMIT 1)"
      " UNION ALL (SELECT c.run_at FROM hf.batch_claims c JOIN alya.batchrows r"
      " ON r.rowid = c.batchrow AND r.status = 'queued' WHERE c.batch = b.id"
      " AND c.owner IS NULL ORDER BY c.run_at LIMIT 1)"
      " UNION ALL (SELECT coalesce((SELECT c.run_at FROM hf.batch_claims c WHERE c.batchrow = 0"
      " AND c.batch = b.id), 0) WHERE" HOLDFAST_NO_OPEN_ROWS
      "AND NOT EXISTS (SELECT 1 FROM hf.batch_claims c WHERE c.batchrow = 0 AND c.batch = b.id"
      " AND c.owner IS NOT NULL))) x",
      request.kinds);
  if (!rows.next() || rows.is_null(0)) return {};
  return rows.time(0);
}

}  // namespace holdfast::postgres
