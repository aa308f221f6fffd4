#include <algorithm>
#include <climits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "batches/unit_result.hpp"
#include "engines/sqlite/batch_statements.hpp"
#include "engines/sqlite/batch_store.hpp"

namespace holdfast::sqlite {

namespace {

/// " AND status IN (...)"; nothing if any will do.
std::string among(const std::vector<BatchStatus>& statuses) {
  if (statuses.empty()) return {};
  std::vector<int> numbers;
  for (auto status : statuses) numbers.push_back(static_cast<int>(status));
  return fmt::format(" AND status IN ({})", fmt::join(numbers, ", "));
}

BatchCounts count_rows(Connection& db, std::int64_t batch) {
  BatchCounts counts;
  auto query = db.use(
      "SELECT status, count(*) FROM holdfast_batchrows INDEXED BY holdfast_batchrows_status"
      " WHERE batch = ? GROUP BY status");
  query.bind(batch);
  while (query.step()) counts.of[query.integer(0)] = query.integer(1);
  return counts;
}

std::size_t bytes(const Statement& row, int column) {
  return static_cast<std::size_t>(row.integer(column));
}

/// As the database counts.
std::int64_t characters(std::size_t longest) {
  return static_cast<std::int64_t>(std::min<std::size_t>(longest, INT_MAX));
}

BatchRecord read_batch(const Statement& row) {
  BatchRecord batch;
  batch.id = batch_id(row, 1);
  batch.app = row.text(2);
  batch.op = row.text(3);
  batch.status = static_cast<BatchStatus>(row.integer(4));
  batch.context = row.text(5);
  batch.input_file = row.text(6);
  batch.then = row.text(7);
  batch.submitted_at = row.time(8);
  batch.done_at = row.optional_time(9);
  batch.output_files = names_from_json(row.text(10));
  batch.context_bytes = bytes(row, 11);
  return batch;
}

RowRecord read_batch_row(const Statement& row) {
  return {.id = row.integer(0),
          .line = static_cast<int>(row.integer(1)),
          .status = static_cast<BatchStatus>(row.integer(2)),
          .input = row.text(3),
          .result = row.text(4),
          .messages = row.text(5),
          .output = row.text(6),
          .done_by = row.text(7),
          .attempt = static_cast<int>(row.integer(9)),
          .input_bytes = bytes(row, 10),
          .result_bytes = bytes(row, 11),
          .messages_bytes = bytes(row, 12),
          .output_bytes = bytes(row, 13),
          .done_at = row.optional_time(8)};
}

}  // namespace

std::vector<BatchRecord> SqliteBatchStore::find(const BatchFilter& filter) {
  // One that is named is found by its index, however many there are.
  auto sql = fmt::format(
      "SELECT seq, id, app, op, status, substr(context, 1, ?5), inputfile, then_kind, reqat, "
      "doneat,"
      " outputfiles, length(CAST(context AS BLOB))"
      " FROM holdfast_batches WHERE {} AND (?2 = '' OR app = ?2) AND (?3 = '' OR op = ?3){}{}"
      " ORDER BY seq DESC LIMIT ?4",
      filter.id ? "id = ?1" : "?1 IS NULL", among(filter.statuses),
      filter.after ? " AND seq < (SELECT seq FROM holdfast_batches WHERE id = ?6)"
                   : " AND ?6 IS NULL");
  std::optional<std::span<const std::uint8_t>> id;
  if (filter.id) id = blob(*filter.id);
  std::optional<std::span<const std::uint8_t>> after;
  if (filter.after) after = blob(*filter.after);
  return store_.reader.read([&](Connection& db) {
    std::vector<BatchRecord> found;
    Connection::Once query{db, sql};
    query->bind(id, filter.app, filter.op, filter.limit, characters(filter.longest_text), after);
    while (query->step()) {
      found.push_back(read_batch(*query));
      if (filter.count_rows) found.back().rows = count_rows(db, query->integer(0));
    }
    return found;
  });
}

std::vector<RowRecord> SqliteBatchStore::rows(const RowFilter& filter) {
  auto sql = fmt::format(
      "SELECT r.seq, line, status, substr(input, 1, ?5), substr(res, 1, ?5),"
      " substr(messages, 1, ?5), substr(blobrows, 1, ?5), doneby, doneat,"
      " (SELECT attempt FROM holdfast_batch_claims c WHERE c.row = r.seq),"
      " length(CAST(input AS BLOB)), length(CAST(res AS BLOB)), length(CAST(messages AS BLOB)),"
      " length(CAST(blobrows AS BLOB))"
      " FROM holdfast_batchrows r INDEXED BY holdfast_batchrows_line"
      " WHERE batch = (SELECT seq FROM holdfast_batches WHERE id = ?1)"
      " AND (line, r.seq) > (?2, ?3){}{} ORDER BY line, r.seq LIMIT ?4",
      among(filter.statuses), filter.with_output ? " AND blobrows IS NOT NULL" : "");
  return store_.reader.read([&](Connection& db) {
    std::vector<RowRecord> found;
    Connection::Once query{db, sql};
    query->bind(blob(filter.batch), filter.after_line, filter.after_row, filter.limit,
                characters(filter.longest_text));
    while (query->step()) found.push_back(read_batch_row(*query));
    return found;
  });
}

}  // namespace holdfast::sqlite
