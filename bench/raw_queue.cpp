#include "raw_queue.hpp"

#include <sqlite3.h>

#include <chrono>
#include <stdexcept>

namespace holdfast::bench {

namespace {

long long now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

constexpr const char* schema =
    "CREATE TABLE queue (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, run_at INTEGER NOT NULL,"
    " finished_at INTEGER, payload TEXT NOT NULL);"
    "CREATE INDEX queue_ready ON queue (run_at) WHERE state = 0;";

// The WAL goes back into the file as often as in our engine.
constexpr const char* pragmas =
    "PRAGMA journal_mode=WAL; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0;"
    "PRAGMA cell_size_check=ON; PRAGMA trusted_schema=OFF; PRAGMA cache_spill=OFF;"
    "PRAGMA cache_size=-8000; PRAGMA wal_autocheckpoint=4000;";

}  // namespace

RawQueue::RawQueue(const std::string& file, Durability durability) {
  if (sqlite3_open(file.c_str(), &db_) != SQLITE_OK)
    throw std::runtime_error{"cannot open " + file};
  execute(pragmas);
  execute(durability == Durability::power_safe ? "PRAGMA synchronous=FULL"
                                               : "PRAGMA synchronous=NORMAL");
  execute(schema);
  insert_ = prepare("INSERT INTO queue (state, run_at, payload) VALUES (0, ?, ?)");
  claim_ = prepare(
      "UPDATE queue SET state = 1 WHERE id IN (SELECT id FROM queue WHERE state = 0 AND run_at <= ?"
      " ORDER BY run_at, id LIMIT ?) RETURNING id, payload");
  mark_ = prepare("UPDATE queue SET state = 2, finished_at = ? WHERE id = ?");
  erase_ = prepare("DELETE FROM queue WHERE ? > 0 AND id = ?");
}

RawQueue::~RawQueue() {
  for (auto* statement : {insert_, claim_, mark_, erase_}) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

void RawQueue::execute(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    throw std::runtime_error{sqlite3_errmsg(db_)};
}

sqlite3_stmt* RawQueue::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr) != SQLITE_OK)
    throw std::runtime_error{sqlite3_errmsg(db_)};
  return statement;
}

void RawQueue::run(sqlite3_stmt* statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) throw std::runtime_error{sqlite3_errmsg(db_)};
  sqlite3_reset(statement);
}

void RawQueue::insert(const std::string& payload, int rows) {
  execute("BEGIN IMMEDIATE");
  for (int i = 0; i < rows; ++i) {
    sqlite3_bind_int64(insert_, 1, now());
    sqlite3_bind_text(insert_, 2, payload.data(), static_cast<int>(payload.size()), SQLITE_STATIC);
    run(insert_);
  }
  execute("COMMIT");
}

std::vector<RawQueue::Row> RawQueue::claim(int batch) {
  std::vector<Row> rows;
  sqlite3_bind_int64(claim_, 1, now());
  sqlite3_bind_int(claim_, 2, batch);
  while (sqlite3_step(claim_) == SQLITE_ROW) {
    auto text = reinterpret_cast<const char*>(sqlite3_column_text(claim_, 1));
    rows.push_back({sqlite3_column_int64(claim_, 0), text});
  }
  sqlite3_reset(claim_);
  return rows;
}

int RawQueue::drain(int batch, Finish finish) {
  auto* end = finish == Finish::mark ? mark_ : erase_;
  int done = 0;
  std::vector<Row> held;
  while (true) {
    execute("BEGIN IMMEDIATE");
    for (const auto& row : held) {
      sqlite3_bind_int64(end, 1, now());
      sqlite3_bind_int64(end, 2, row.id);
      run(end);
    }
    done += static_cast<int>(held.size());
    held = claim(batch);
    execute("COMMIT");
    if (held.empty()) return done;
  }
}

}  // namespace holdfast::bench
