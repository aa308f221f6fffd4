#include <algorithm>

#include "engines/sqlite/batch_statements.hpp"

namespace holdfast::sqlite {

namespace {

struct OpenBatch {
  std::int64_t seq = 0;
  BatchId id{};
  std::string kind{};
};

/// The batches with work that the request may claim, oldest first.
std::vector<OpenBatch> open_batches(Connection& db, const ClaimRequest& request) {
  std::vector<OpenBatch> open;
  auto query = db.use(
      "SELECT seq, id, app, op FROM holdfast_batches INDEXED BY holdfast_open_batches"
      " WHERE status < 2 ORDER BY seq");
  while (query.step()) {
    auto kind = unit_kind(query.text(2), query.text(3));
    if (std::ranges::count(request.kinds, kind) == 0) continue;
    open.push_back({query.integer(0), batch_id(query, 1), std::move(kind)});
  }
  return open;
}

/// Rows that were not claimed before, and those that were and may run again, but no suspects.
constexpr const char* plain_rows =
    "SELECT r.seq, r.line, r.input FROM holdfast_batchrows r INDEXED BY holdfast_batchrows_status"
    " LEFT JOIN holdfast_batch_claims c ON c.row = r.seq AND c.batch = r.batch"
    " WHERE r.batch = ?1 AND r.status = 0 AND coalesce(c.suspect, 0) = 0"
    " AND coalesce(c.run_at, 0) <= ?2 ORDER BY r.seq LIMIT ?3";
constexpr const char* suspect_batch_rows =
    "SELECT r.seq, r.line, r.input FROM holdfast_batch_claims c INDEXED BY holdfast_batch_left"
    " JOIN holdfast_batchrows r ON r.seq = c.row WHERE c.batch = ?1 AND c.suspect = 1"
    " AND c.owner IS NULL AND r.status = 0 AND c.run_at <= ?2 LIMIT ?3";

class Claiming {
 public:
  Claiming(Connection& db, const ClaimRequest& request, const ClaimTime& now, std::int64_t owner,
           Exchanged& into)
      : db_{db}, request_{request}, now_{now}, owner_{owner}, into_{into} {}

  void run() {
    auto open = open_batches(db_, request_);
    // A batch that is finished does not wait for the rows of others.
    for (const auto& batch : open) {
      if (room() == 0) return;
      if (!has_open_rows(db_, batch.seq)) take_summary(batch);
    }
    if (open.empty() || room() == 0) return;
    // A long batch is not to keep a short one waiting: all get their share, and what is left of it
    // goes to the oldest.
    auto share = std::max(1, room() / static_cast<int>(open.size()));
    for (const auto& batch : open) take(batch, plain_rows, std::min(share, room()), false);
    for (const auto& batch : open) take(batch, plain_rows, room(), false);
    for (const auto& batch : open)
      take(batch, suspect_batch_rows, std::min(suspects_, room()), true);
  }

 private:
  int room() const { return request_.limit - static_cast<int>(into_.claimed.size()); }

  void take(const OpenBatch& batch, const char* which, int limit, bool suspect) {
    if (limit <= 0) return;
    auto first = into_.claimed.size();
    {
      auto query = db_.use(which);
      query.bind(batch.seq, now_.wall, limit);
      while (query.step()) {
        Claimed one;
        one.lease.id = unit_of_row(query.integer(0));
        one.kind = batch.kind;
        one.suspect = suspect;
        one.payload = pack({batch.id, static_cast<int>(query.integer(1)), query.text(2)});
        into_.claimed.push_back(std::move(one));
      }
    }
    if (into_.claimed.size() == first) return;
    auto worker = request_.worker.text();
    auto begin = db_.use("UPDATE holdfast_batchrows SET status = 1, doneby = ? WHERE seq = ?");
    for (auto i = first; i < into_.claimed.size(); ++i) {
      auto row = *row_of(into_.claimed[i].lease.id);
      begin.bind(worker, row).run();
      claim({row, batch.seq}, into_.claimed[i]);
    }
    if (suspect) suspects_ -= static_cast<int>(into_.claimed.size() - first);
    db_.use("UPDATE holdfast_batches SET status = 1 WHERE seq = ? AND status = 0")
        .bind(batch.seq)
        .run();
  }

  void take_summary(const OpenBatch& batch) {
    auto busy = db_.use(
        "SELECT 1 FROM holdfast_batch_claims WHERE row = 0 AND batch = ?"
        " AND (owner IS NOT NULL OR run_at > ?)");
    if (busy.bind(batch.seq, now_.wall).step()) return;
    Claimed one;
    one.lease.id = unit_of_summary(batch.id);
    one.kind = batch.kind;
    one.payload = pack({batch.id, 0, {}});
    claim({0, batch.seq}, one);
    into_.claimed.push_back(std::move(one));
  }

  void claim(const UnitKey& key, Claimed& one) {
    auto note = db_.use(
        "INSERT INTO holdfast_batch_claims (row, batch, token, owner, lease_until, claimed_at,"
        " attempt) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1) ON CONFLICT (row, batch) DO UPDATE SET"
        " token = max(token + 1, ?3), owner = ?4, lease_until = ?5, claimed_at = ?6,"
        " attempt = attempt + 1 RETURNING token, attempt");
    note.bind(key.row, key.batch, now_.token_floor, owner_, now_.steady + request_.lease,
              now_.wall);
    note.step();
    one.lease.token = Token{note.integer(0)};
    one.attempt = static_cast<int>(note.integer(1));
  }

  Connection& db_;
  const ClaimRequest& request_;
  const ClaimTime& now_;
  std::int64_t owner_;
  Exchanged& into_;
  int suspects_ = request_.max_suspects;
};

/// When the first row of a batch may be claimed.
std::optional<WallTime> earliest_row(Connection& db, std::int64_t batch) {
  auto fresh = db.use(
      "SELECT 1 FROM holdfast_batchrows r INDEXED BY holdfast_batchrows_status WHERE r.batch = ?"
      " AND r.status = 0 AND NOT EXISTS (SELECT 1 FROM holdfast_batch_claims c"
      " WHERE c.row = r.seq AND c.batch = r.batch) LIMIT 1");
  if (fresh.bind(batch).step()) return WallTime{};
  auto later = db.use(
      "SELECT min(run_at) FROM holdfast_batch_claims INDEXED BY holdfast_batch_left"
      " WHERE batch = ? AND owner IS NULL AND row > 0");
  if (later.bind(batch).step() && !later.is_null(0)) return later.time(0);
  return {};
}

std::optional<WallTime> earliest_summary(Connection& db, std::int64_t batch) {
  if (has_open_rows(db, batch)) return {};
  auto find = db.use("SELECT owner, run_at FROM holdfast_batch_claims WHERE row = 0 AND batch = ?");
  if (!find.bind(batch).step()) return WallTime{};
  if (!find.is_null(0)) return {};
  return find.time(1);
}

}  // namespace

bool has_open_rows(Connection& db, std::int64_t batch) {
  auto find = db.use(
      "SELECT 1 FROM holdfast_batchrows INDEXED BY holdfast_batchrows_status"
      " WHERE batch = ? AND status IN (0, 1) LIMIT 1");
  return find.bind(batch).step();
}

void claim_units(Connection& db, const ClaimRequest& request, const ClaimTime& now,
                 Exchanged& into) {
  std::int64_t owner = 0;
  {
    auto find = db.use(
        "SELECT seq FROM holdfast_workers WHERE id = ? AND died_at IS NULL AND stopped_at IS NULL");
    into.buried = !find.bind(request.worker).step();
    if (into.buried) return;
    owner = find.integer(0);
  }
  Claiming{db, request, now, owner, into}.run();
}

std::optional<WallTime> earliest_unit(Connection& db, const ClaimRequest& request) {
  std::optional<WallTime> earliest;
  for (const auto& batch : open_batches(db, request)) {
    auto due = earliest_row(db, batch.seq);
    if (!due) due = earliest_summary(db, batch.seq);
    if (due) earliest = earliest ? std::min(*earliest, *due) : *due;
  }
  return earliest;
}

}  // namespace holdfast::sqlite
