#include "engines/postgres/batch_store.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "engines/postgres/batch_statements.hpp"
#include "engines/postgres/migrate.hpp"
#include "engines/postgres/statements.hpp"

namespace holdfast::postgres {

namespace {

constexpr Writer::KillPoints batch_points{KillPoint::batch_before_commit,
                                          KillPoint::batch_after_commit};
constexpr Writer::KillPoints batch_exchange_points{KillPoint::batch_exchange_before_commit,
                                                   KillPoint::batch_exchange_after_commit};

void queue_rows(Connection& db, BatchId batch, std::span<const BatchRow> rows) {
  if (rows.empty()) return;
  Array lines{Type::bigint}, inputs{Type::text};
  for (const auto& row : rows) {
    lines.add(row.line);
    inputs.add(row.input);
  }
  db.queue(
      "INSERT INTO alya.batchrows (batch, line, input, status, reqat) SELECT $1, s.line,"
      " s.input::jsonb, 'queued'," HOLDFAST_NOW
      "FROM unnest($2::bigint[], $3::text[])"
      " AS s(line, input)",
      uuid(batch), lines.value(), inputs.value());
}

/// Sets are compared, not joined: the server, which may have counted when there were no rows, would
/// look through those of the batch again for every line. The tables have no index of lines.
bool has_line_of(Connection& db, BatchId batch, std::span<const BatchRow> rows) {
  if (rows.empty()) return false;
  Array lines{Type::bigint};
  for (const auto& row : rows) lines.add(row.line);
  auto [first, last] = std::ranges::minmax(rows, {}, &BatchRow::line);
  return db
      .run(
          "SELECT line::bigint FROM alya.batchrows WHERE batch = $1 AND line BETWEEN $3 AND $4"
          " INTERSECT SELECT unnest($2::bigint[]) LIMIT 1",
          uuid(batch), lines.value(), first.line, last.line)
      .next();
}

/// Content is taken once for each application and operation.
std::string object_id(const NewBatch& batch) {
  return fmt::format("{}/{}/{}", batch.app, batch.op, batch.file->checksum);
}

std::optional<BatchId> taken_before(Connection& db, const NewBatch& batch) {
  if (!batch.file) return {};
  auto found =
      db.run("SELECT batch_id FROM alya.batch_files WHERE object_id = $1", object_id(batch));
  if (!found.next()) return {};
  return batch_id(found, 0);
}

void insert_batch(Connection& db, BatchId id, const NewBatch& batch) {
  std::optional<std::string> file;
  if (batch.file) file = batch.file->name;
  db.queue(
      "INSERT INTO alya.batches (id, app, op, context, inputfile, status, reqat) VALUES ($1, $2,"
      " $3, $4::text::jsonb, $5, $6::text::alya.status_enum," HOLDFAST_NOW ")",
      uuid(id), batch.app, batch.op, batch.context, file, batch.wait ? "wait" : "queued");
  if (!batch.then.empty())
    db.queue("INSERT INTO hf.batch_notes (batch, then_kind) VALUES ($1, $2)", uuid(id), batch.then);
  if (batch.file)
    db.queue(
        "INSERT INTO alya.batch_files (batch_id, object_id, filename, size, checksum,"
        " content_type, status, received_at) VALUES ($1, $2, $3, $4, $5, $6, true,"
        " to_timestamp({wall} / 1000.0))",
        uuid(id), object_id(batch), batch.file->name, batch.file->bytes, batch.file->checksum,
        batch.file->content_type);
  queue_rows(db, id, batch.rows);
  db.collect();
}

bool abort_batch(Connection& db, BatchId id, std::span<const NewTask> follow_ups) {
  auto open = db.run(
      "SELECT 1 FROM alya.batches WHERE id = $1 AND status IN ('queued', 'inprog', 'wait')"
      " AND doneat IS NULL FOR UPDATE",
      uuid(id));
  if (!open.next()) return false;
  // In the order in which those who end rows lock them; and once more for what was claimed between.
  db.queue("DELETE FROM hf.batch_claims WHERE batch = $1", uuid(id));
  db.queue("UPDATE alya.batchrows SET status = 'aborted', doneat =" HOLDFAST_NOW
           "WHERE batch = $1 AND status IN ('queued', 'inprog')",
           uuid(id));
  db.queue("DELETE FROM hf.batch_claims WHERE batch = $1", uuid(id));
  db.run("UPDATE alya.batches SET status = 'aborted', doneat =" HOLDFAST_NOW
         ", nsuccess = (SELECT count(*) FROM alya.batchrows WHERE batch = $1"
         " AND status = 'success'), nfailed = (SELECT count(*) FROM alya.batchrows"
         " WHERE batch = $1 AND status = 'failed'), naborted = (SELECT count(*)"
         " FROM alya.batchrows WHERE batch = $1 AND status = 'aborted') WHERE id = $1",
         uuid(id));
  if (!follow_ups.empty()) insert_tasks(db, follow_ups, InsertAs::follow_up);
  return true;
}

}  // namespace

Store& PostgresBatchStore::store() {
  std::lock_guard lock{preparing_};
  if (prepared_ || !store_.why_read_only.empty()) return store_;
  Connection db{store_.dialect, store_.durability, Connection::Purpose::steps};
  make_batch_tables(db, store_.dialect->address());
  prepared_ = true;
  return store_;
}

bool PostgresBatchStore::has_tables() {
  std::lock_guard lock{preparing_};
  if (prepared_) return true;
  const auto& address = store_.dialect->address();
  prepared_ = store_.reader.read([&](Connection& db) { return has_batch_tables(db, address); });
  if (!prepared_ && address.batches() != address.schema)
    throw StoreUnusable{
        fmt::format("there are no tables of batches in schema {} of {}; the first batch that is "
                    "submitted or worker that is started makes them",
                    address.batches(), address.name)};
  return prepared_;
}

Batches::Submitted PostgresBatchStore::insert(BatchId id, const NewBatch& batch) {
  auto submitted = store().writer.write(batch_points, [&](Connection& db) {
    if (auto before = taken_before(db, batch)) return Batches::Submitted{*before, false};
    insert_batch(db, id, batch);
    return Batches::Submitted{id, true};
  });
  store_.session.announce_work();
  return submitted;
}

Appended PostgresBatchStore::append(BatchId id, std::span<const BatchRow> rows, bool release) {
  if (!has_tables()) return Appended::does_not_wait;
  auto answer = store().writer.write(batch_points, [&](Connection& db) {
    // Locked, so that nobody releases it before the rows are there, or appends the same.
    auto waits =
        db.run("SELECT 1 FROM alya.batches WHERE id = $1 AND status = 'wait' FOR UPDATE", uuid(id));
    if (!waits.next()) return Appended::does_not_wait;
    if (has_line_of(db, id, rows)) return Appended::line_is_there;
    queue_rows(db, id, rows);
    if (release) db.queue("UPDATE alya.batches SET status = 'queued' WHERE id = $1", uuid(id));
    db.run("SELECT 1");  // with which goes what is queued
    return Appended::accepted;
  });
  if (answer == Appended::accepted && release) store_.session.announce_work();
  return answer;
}

bool PostgresBatchStore::abort(BatchId id, std::span<const NewTask> follow_ups) {
  if (!has_tables()) return false;
  bool aborted = store().writer.write(
      batch_points, [&](Connection& db) { return abort_batch(db, id, follow_ups); });
  if (!aborted) return false;
  // Whoever runs one of its rows asks for its leases now, and learns that they are gone.
  store_.session.announce_control();
  if (!follow_ups.empty()) store_.session.announce_work();
  return true;
}

Exchanged PostgresBatchStore::exchange(std::span<const UnitEnd> ends,
                                       const std::optional<ClaimRequest>& claim) {
  bool news = false;
  // A batch that is finished does not wait for the rows of others: its summary is claimed first.
  std::vector<Complete> finished;
  if (claim)
    finished = store().reader.read(
        [&](Connection& db) { return complete_batches(db, *claim, claim->limit); });
  auto& writer = ends.empty() ? store().claimer : store().writer;
  auto exchanged = writer.write(batch_exchange_points, [&](Connection& db) {
    auto ended = end_units(db, ends);
    news = ended.news;
    Exchanged done;
    done.settled = std::move(ended.settled);
    count_refused(db, std::ranges::count(done.settled, Settled::refused));
    if (!finished.empty()) claim_summaries(db, *claim, finished, done);
    if (claim) claim_rows(db, *claim, done);
    return done;
  });
  if (news) store_.session.announce_work();
  if (!claim || exchanged.buried) return exchanged;
  auto room = claim->limit - static_cast<int>(exchanged.claimed.size());
  if (room <= 0) return exchanged;
  // Of two who end the last two rows at the same time, neither sees that the other has. After their
  // commits at least one does.
  auto complete =
      store_.reader.read([&](Connection& db) { return complete_batches(db, *claim, room); });
  if (complete.empty()) return exchanged;
  auto summaries = writer.write(batch_exchange_points, [&](Connection& db) {
    Exchanged more;
    claim_summaries(db, *claim, complete, more);
    return more;
  });
  std::ranges::move(summaries.claimed, std::back_inserter(exchanged.claimed));
  return exchanged;
}

std::optional<WallTime> PostgresBatchStore::next_due(const ClaimRequest& claim) {
  return store().reader.read([&](Connection& db) { return earliest_unit(db, claim); });
}

}  // namespace holdfast::postgres
