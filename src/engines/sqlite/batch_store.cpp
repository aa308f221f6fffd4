#include "engines/sqlite/batch_store.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "engines/sqlite/batch_statements.hpp"
#include "engines/sqlite/room.hpp"
#include "engines/sqlite/transfer.hpp"

namespace holdfast::sqlite {

namespace {

constexpr Writer::KillPoints batch_points{KillPoint::batch_before_commit,
                                          KillPoint::batch_after_commit};
constexpr Writer::KillPoints batch_exchange_points{KillPoint::batch_exchange_before_commit,
                                                   KillPoint::batch_exchange_after_commit};

/// What a row takes beside its input: its columns, and its places in three indexes.
constexpr std::int64_t bytes_besides_input = 120;

std::int64_t bytes_of(std::span<const BatchRow> rows) {
  std::int64_t bytes = 0;
  for (const auto& row : rows)
    bytes += static_cast<std::int64_t>(row.input.size()) + bytes_besides_input;
  return bytes;
}

void insert_rows(Connection& db, std::int64_t batch, std::span<const BatchRow> rows, WallTime now) {
  auto insert = db.use(
      "INSERT INTO holdfast_batchrows (batch, line, input, status, reqat) VALUES (?, ?, ?, 0, ?)");
  for (const auto& row : rows) insert.bind(batch, row.line, row.input, now).run();
}

bool has_line_of(Connection& db, std::int64_t batch, std::span<const BatchRow> rows) {
  return std::ranges::any_of(rows, [&](const BatchRow& row) {
    auto find = db.use("SELECT 1 FROM holdfast_batchrows WHERE batch = ? AND line = ?");
    find.bind(batch, row.line);
    return find.step();
  });
}

/// Content is taken once for each application and operation.
std::string object_id(const NewBatch& batch) {
  return fmt::format("{}/{}/{}", batch.app, batch.op, batch.file->checksum);
}

std::optional<BatchId> taken_before(Connection& db, const NewBatch& batch) {
  if (!batch.file) return {};
  auto object = object_id(batch);
  auto find = db.use(
      "SELECT b.id FROM holdfast_batch_files f JOIN holdfast_batches b ON b.seq = f.batch"
      " WHERE f.object_id = ?");
  find.bind(object);
  if (!find.step()) return {};
  return batch_id(find, 0);
}

void insert_batch(Connection& db, BatchId id, const NewBatch& batch, WallTime now) {
  std::optional<std::string_view> file, then;
  if (batch.file) file = batch.file->name;
  if (!batch.then.empty()) then = batch.then;
  auto status = batch.wait ? BatchStatus::wait : BatchStatus::queued;
  db.use(
        "INSERT INTO holdfast_batches (id, app, op, context, inputfile, status, reqat, then_kind)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(blob(id), batch.app, batch.op, batch.context, file, static_cast<int>(status), now, then)
      .run();
  auto seq = db.last_insert();
  insert_rows(db, seq, batch.rows, now);
  if (!batch.file) return;
  auto object = object_id(batch);
  db.use(
        "INSERT INTO holdfast_batch_files (batch, object_id, filename, size, checksum,"
        " content_type, received_at) VALUES (?, ?, ?, ?, ?, ?, ?)")
      .bind(seq, object, batch.file->name, batch.file->bytes, batch.file->checksum,
            batch.file->content_type, now)
      .run();
}

/// The number of a batch with this status; 0: it is not there, or has another.
std::int64_t find_batch(Connection& db, BatchId id, BatchStatus from, BatchStatus to) {
  auto find = db.use("SELECT seq FROM holdfast_batches WHERE id = ? AND status IN (?, ?)");
  find.bind(blob(id), static_cast<int>(from), static_cast<int>(to));
  return find.step() ? find.integer(0) : 0;
}

bool abort_batch(Connection& db, BatchId id, std::span<const NewTask> follow_ups, WallTime now) {
  auto seq = find_batch(db, id, BatchStatus::queued, BatchStatus::inprog);
  if (seq == 0) seq = find_batch(db, id, BatchStatus::wait, BatchStatus::wait);
  if (seq == 0) return false;
  db.use(
        "UPDATE holdfast_batchrows SET status = 4, doneat = ? WHERE batch = ? AND status IN (0, 1)")
      .bind(now, seq)
      .run();
  // Without a claim nobody can write: who still runs one of them is refused.
  db.use("DELETE FROM holdfast_batch_claims WHERE batch = ?").bind(seq).run();
  db.use(
        "UPDATE holdfast_batches SET status = 4, doneat = ?2,"
        " nsuccess = (SELECT count(*) FROM holdfast_batchrows WHERE batch = ?1 AND status = 2),"
        " nfailed = (SELECT count(*) FROM holdfast_batchrows WHERE batch = ?1 AND status = 3),"
        " naborted = (SELECT count(*) FROM holdfast_batchrows WHERE batch = ?1 AND status = 4)"
        " WHERE seq = ?1")
      .bind(seq, now)
      .run();
  insert_tasks(db, follow_ups, now);
  return true;
}

}  // namespace

Batches::Submitted SqliteBatchStore::insert(BatchId id, const NewBatch& batch) {
  auto submitted = store_.writer.write(batch_points, [&](Connection& db) {
    expect_not_moved(store_, db);
    if (auto before = taken_before(db, batch)) return Batches::Submitted{*before, false};
    expect_room(store_, db, 2 * bytes_of(batch.rows));
    insert_batch(db, id, batch, store_.clock.wall());
    return Batches::Submitted{id, true};
  });
  store_.watch.announce_work();
  return submitted;
}

Appended SqliteBatchStore::append(BatchId id, std::span<const BatchRow> rows, bool release) {
  auto answer = store_.writer.write(batch_points, [&](Connection& db) {
    auto seq = find_batch(db, id, BatchStatus::wait, BatchStatus::wait);
    if (seq == 0) return Appended::does_not_wait;
    if (has_line_of(db, seq, rows)) return Appended::line_is_there;
    expect_room(store_, db, 2 * bytes_of(rows));
    insert_rows(db, seq, rows, store_.clock.wall());
    if (release) db.use("UPDATE holdfast_batches SET status = 0 WHERE seq = ?").bind(seq).run();
    return Appended::accepted;
  });
  if (answer == Appended::accepted && release) store_.watch.announce_work();
  return answer;
}

bool SqliteBatchStore::abort(BatchId id, std::span<const NewTask> follow_ups) {
  bool aborted = store_.writer.write(batch_points, [&](Connection& db) {
    return abort_batch(db, id, follow_ups, store_.clock.wall());
  });
  if (!aborted) return false;
  // Whoever runs one of its rows asks for its leases now, and learns that they are gone.
  store_.watch.announce_control();
  if (!follow_ups.empty()) store_.watch.announce_work();
  return true;
}

Exchanged SqliteBatchStore::exchange(std::span<const UnitEnd> ends,
                                     const std::optional<ClaimRequest>& claim) {
  bool news = false;
  auto exchanged = store_.writer.write(batch_exchange_points, [&](Connection& db) {
    auto now = store_.clock.wall();
    auto ended = end_units(db, ends, now);
    news = ended.news;
    Exchanged done;
    done.settled = std::move(ended.settled);
    count_refused(db, std::ranges::count(done.settled, Settled::refused));
    if (claim) claim_units(db, *claim, {now, store_.clock.steady(), store_.token_floor()}, done);
    return done;
  });
  if (news) store_.watch.announce_work();
  return exchanged;
}

std::optional<WallTime> SqliteBatchStore::next_due(const ClaimRequest& claim) {
  return store_.reader.read([&](Connection& db) { return earliest_unit(db, claim); });
}

}  // namespace holdfast::sqlite
