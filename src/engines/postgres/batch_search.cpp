#include <algorithm>
#include <climits>

#include "batches/unit_result.hpp"
#include "engines/postgres/batch_statements.hpp"
#include "engines/postgres/batch_store.hpp"

namespace holdfast::postgres {

namespace {

/// Milliseconds since 1970 of a time that the wall showed.
#define HOLDFAST_MILLIS(time) " (extract(epoch FROM " time "::timestamptz) * 1000)::bigint "

std::vector<std::string> names_of(const std::vector<BatchStatus>& statuses) {
  std::vector<std::string> names;
  for (auto status : statuses) names.emplace_back(to_string(status));
  return names;
}

std::string optional_text(const Rows& rows, int column) {
  return rows.is_null(column) ? std::string{} : rows.text(column);
}

std::size_t bytes(const Rows& rows, int column) {
  return rows.is_null(column) ? 0 : static_cast<std::size_t>(rows.integer(column));
}

/// As the server counts.
std::int64_t characters(std::size_t longest) {
  return static_cast<std::int64_t>(std::min<std::size_t>(longest, INT_MAX));
}

BatchStatus status_in(const Rows& rows, int column) {
  return parse_batch_status(rows.text(column)).value_or(BatchStatus::queued);
}

BatchRecord read_batch(const Rows& row) {
  BatchRecord batch;
  batch.id = batch_id(row, 0);
  batch.app = row.text(1);
  batch.op = row.text(2);
  batch.status = status_in(row, 3);
  batch.context = row.text(4);
  batch.input_file = optional_text(row, 5);
  batch.then = optional_text(row, 6);
  batch.submitted_at = row.time(7);
  batch.done_at = row.optional_time(8);
  batch.output_files = names_from_json(optional_text(row, 9));
  batch.context_bytes = bytes(row, 10);
  return batch;
}

BatchCounts count_rows(Connection& db, BatchId batch) {
  BatchCounts counts;
  auto rows = db.run(
      "SELECT status::text, count(*) FROM alya.batchrows WHERE batch = $1 GROUP BY 1", uuid(batch));
  while (rows.next()) counts[status_in(rows, 0)] = rows.integer(1);
  return counts;
}

RowRecord read_batch_row(const Rows& row) {
  return {.id = row.integer(0),
          .line = row.small(1),
          .status = status_in(row, 2),
          .input = row.text(3),
          .result = optional_text(row, 4),
          .messages = optional_text(row, 5),
          .output = optional_text(row, 6),
          .done_by = optional_text(row, 7),
          .attempt = row.is_null(9) ? 0 : row.small(9),
          .input_bytes = bytes(row, 10),
          .result_bytes = bytes(row, 11),
          .messages_bytes = bytes(row, 12),
          .output_bytes = bytes(row, 13),
          .done_at = row.optional_time(8)};
}

}  // namespace

std::vector<BatchRecord> PostgresBatchStore::find(const BatchFilter& filter) {
  if (!has_tables()) return {};
  std::optional<TaskId> id;
  if (filter.id) id = uuid(*filter.id);
  std::optional<TaskId> after;
  if (filter.after) after = uuid(*filter.after);
  return store().reader.answer([&](Connection& db) {
    std::vector<BatchRecord> found;
    auto rows = db.run(
        "SELECT b.id, b.app, b.op, b.status::text, left(b.context::text, $7::int), b.inputfile,"
        " n.then_kind,"
        HOLDFAST_MILLIS("b.reqat") "," HOLDFAST_MILLIS("b.doneat")
        ", b.outputfiles::text, octet_length(b.context::text)::bigint FROM alya.batches b"
        " LEFT JOIN hf.batch_notes n ON n.batch = b.id"
        " WHERE ($1::uuid IS NULL OR b.id = $1) AND ($2 = '' OR b.app = $2)"
        " AND ($3 = '' OR b.op = $3) AND (cardinality($4::text[]) = 0 OR b.status::text = ANY($4))"
        " AND ($6::uuid IS NULL OR (b.reqat, b.id) <"
        "      (SELECT a.reqat, a.id FROM alya.batches a WHERE a.id = $6))"
        " ORDER BY b.reqat DESC, b.id DESC LIMIT $5",
        id, filter.app, filter.op, names_of(filter.statuses), filter.limit, after,
        characters(filter.longest_text));
    while (rows.next()) found.push_back(read_batch(rows));
    if (filter.count_rows)
      for (auto& batch : found) batch.rows = count_rows(db, batch.id);
    return found;
  });
}

std::vector<RowRecord> PostgresBatchStore::rows(const RowFilter& filter) {
  if (!has_tables()) return {};
  return store().reader.answer([&](Connection& db) {
    std::vector<RowRecord> found;
    auto rows = db.run(
        "SELECT r.rowid, r.line::bigint, r.status::text, left(r.input::text, $7::int),"
        " left(r.res::text, $7::int), left(r.messages::text, $7::int),"
        " left(r.blobrows::text, $7::int), r.doneby," HOLDFAST_MILLIS("r.doneat")
        ", c.attempt::bigint, octet_length(r.input::text)::bigint,"
        " octet_length(r.res::text)::bigint, octet_length(r.messages::text)::bigint,"
        " octet_length(r.blobrows::text)::bigint FROM alya.batchrows r LEFT JOIN hf.batch_claims c"
        " ON c.batchrow = r.rowid AND c.batch = r.batch WHERE r.batch = $1"
        " AND (r.line, r.rowid) > ($2, $3) AND (NOT $4 OR r.blobrows IS NOT NULL)"
        " AND (cardinality($5::text[]) = 0 OR r.status::text = ANY($5))"
        " ORDER BY r.line, r.rowid LIMIT $6",
        uuid(filter.batch), filter.after_line, filter.after_row, filter.with_output,
        names_of(filter.statuses), filter.limit, characters(filter.longest_text));
    while (rows.next()) found.push_back(read_batch_row(rows));
    return found;
  });
}

}  // namespace holdfast::postgres
