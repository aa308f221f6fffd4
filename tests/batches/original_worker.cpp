#include "batches/original_worker.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace holdfast::test {

OriginalWorker::OriginalWorker(const std::string& connection, const std::string& schema)
    : db_{PQconnectdb(connection.c_str()), PQfinish} {
  PQsetNoticeProcessor(
      db_.get(), [](void*, const char*) {}, nullptr);
  run("CREATE SCHEMA IF NOT EXISTS " + schema);
  run("SET search_path TO " + schema);
}

OriginalWorker::Result OriginalWorker::run(const std::string& sql,
                                           const std::vector<std::string>& values) {
  std::vector<const char*> texts;
  for (const auto& text : values) texts.push_back(text.c_str());
  Result result{PQexecParams(db_.get(), sql.c_str(), static_cast<int>(texts.size()), nullptr,
                             texts.data(), nullptr, nullptr, 0),
                PQclear};
  auto status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
    throw std::runtime_error{PQerrorMessage(db_.get())};
  return result;
}

std::string OriginalWorker::value(const std::string& sql, const std::vector<std::string>& values) {
  auto result = run(sql, values);
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

void OriginalWorker::make_tables() {
  run("CREATE TYPE status_enum AS ENUM ('queued', 'inprog', 'success', 'failed', 'aborted',"
      " 'wait')");
  run("CREATE TABLE batches (id uuid PRIMARY KEY, app varchar(255) NOT NULL,"
      " op varchar(255) NOT NULL CHECK (op = lower(op)), context jsonb NOT NULL,"
      " inputfile varchar(255), status status_enum NOT NULL, reqat timestamp NOT NULL,"
      " doneat timestamp, outputfiles jsonb, nsuccess int, nfailed int, naborted int,"
      " created_at timestamp DEFAULT now())");
  run("CREATE TABLE batchrows (rowid bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
      " batch uuid NOT NULL REFERENCES batches (id) ON DELETE CASCADE, line int NOT NULL,"
      " input jsonb NOT NULL, status status_enum NOT NULL, reqat timestamp NOT NULL,"
      " doneat timestamp, res jsonb, blobrows jsonb, messages jsonb, doneby varchar(255),"
      " created_at timestamp DEFAULT now(), CONSTRAINT fk_batch FOREIGN KEY (batch)"
      " REFERENCES batches (id))");
  run("CREATE TABLE batch_files (id serial PRIMARY KEY, batch_id uuid REFERENCES batches (id),"
      " object_id text NOT NULL UNIQUE, filename text NOT NULL, size bigint NOT NULL,"
      " checksum text NOT NULL, content_type text NOT NULL, status boolean NOT NULL,"
      " received_at timestamptz NOT NULL, processed_at timestamptz, error_message text,"
      " metadata jsonb, created_at timestamptz DEFAULT now())");
  run("CREATE INDEX ON batchrows (status)");
  run("CREATE INDEX ON batchrows (batch, status)");
  run("CREATE INDEX ON batches (status)");
}

std::string OriginalWorker::submit(const std::string& app, const std::string& op, int rows) {
  begin();
  auto id = value(
      "INSERT INTO batches (id, app, op, context, status, reqat) VALUES (gen_random_uuid(), $1, $2,"
      " '{}', 'queued', localtimestamp) RETURNING id",
      {app, op});
  run("INSERT INTO batchrows (batch, line, input, status, reqat) SELECT $1::uuid, n,"
      " jsonb_build_object('n', n, 'ms', 0, 'manner', ''), 'queued', localtimestamp FROM "
      "generate_series(1, $2::int) n",
      {id, std::to_string(rows)});
  commit();
  return id;
}

std::vector<OriginalWorker::Row> OriginalWorker::fetch(int limit) {
  begin();
  auto found = run(
      "SELECT batchrows.rowid, batchrows.batch, batchrows.line FROM batchrows"
      " INNER JOIN batches ON batchrows.batch = batches.id WHERE batchrows.status = 'queued'"
      " AND batches.status != 'wait' LIMIT $1::int FOR UPDATE OF batchrows, batches SKIP LOCKED",
      {std::to_string(limit)});
  std::vector<Row> rows;
  std::vector<std::string> ids, batches;
  for (int i = 0; i < PQntuples(found.get()); ++i) {
    rows.push_back({PQgetvalue(found.get(), i, 0), PQgetvalue(found.get(), i, 1),
                    std::stoi(PQgetvalue(found.get(), i, 2))});
    ids.push_back(rows.back().id);
    batches.push_back(rows.back().batch);
  }
  run("UPDATE batches SET status = 'inprog' WHERE id = ANY($1::uuid[]) AND status = 'queued'",
      {fmt::format("{{{}}}", fmt::join(batches, ","))});
  run("UPDATE batchrows SET status = 'inprog' WHERE rowid = ANY($1::bigint[])",
      {fmt::format("{{{}}}", fmt::join(ids, ","))});
  commit();
  return rows;
}

void OriginalWorker::succeed(const Row& row) {
  run("UPDATE batchrows SET status = 'success', doneat = localtimestamp, res = $2::jsonb"
      " WHERE rowid = $1::bigint",
      {row.id, std::to_string(row.line * 10)});
}

bool OriginalWorker::lock(const std::string& batch) {
  return value("SELECT pg_try_advisory_xact_lock(('x' || substr(md5($1), 1, 16))::bit(64)::bigint)",
               {batch}) == "t";
}

bool OriginalWorker::sum_up(const std::string& batch) {
  begin();
  bool open =
      lock(batch) &&
      value("SELECT doneat IS NULL FROM batches WHERE id = $1::uuid FOR UPDATE", {batch}) == "t" &&
      value(
          "SELECT count(*) FROM batchrows WHERE batch = $1::uuid AND status IN"
          " ('queued', 'inprog')",
          {batch}) == "0";
  if (open)
    run("UPDATE batches SET status = 'success', doneat = localtimestamp, nsuccess = (SELECT"
        " count(*) FROM batchrows WHERE batch = $1::uuid AND status = 'success'), nfailed = 0,"
        " naborted = 0 WHERE id = $1::uuid",
        {batch});
  commit();
  return open;
}

void OriginalWorker::queue_again(const std::string& row) {
  run("UPDATE batchrows SET status = 'queued' WHERE rowid = ANY($1::bigint[])"
      " AND status = 'inprog'",
      {"{" + row + "}"});
}

}  // namespace holdfast::test
