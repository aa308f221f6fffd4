#include "engines/sqlite/connection.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "engines/sqlite/processes.hpp"
#include "engines/sqlite/row_sum.hpp"
#include "engines/sqlite/store_path.hpp"
#include "tasks/state_numbers.hpp"

namespace holdfast::sqlite {

namespace {

std::string file_of(sqlite3* db) {
  const char* name = db ? sqlite3_db_filename(db, "main") : nullptr;
  return name && *name ? name : "the database";
}

std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

constexpr const char* common_pragmas =
    "PRAGMA temp_store=MEMORY;"
    "PRAGMA mmap_size=0;"
    "PRAGMA cell_size_check=ON;"
    "PRAGMA trusted_schema=OFF;";

// Spilling dirty pages before the commit and rolling back a part can leave wrong checksums in the
// WAL of this SQLite version, and our transactions are small.
constexpr const char* writing_pragmas =
    "PRAGMA cache_spill=OFF;"
    "PRAGMA wal_autocheckpoint=0;"
    "PRAGMA cache_size=-8000;";

/// SQLite knows a full disk only where it writes pages, not where it grows the index of the WAL or
/// makes a file, and it does not know a quota. A sync that found no room is no such case: it may
/// have dropped what was written before.
bool out_of_room(sqlite3* db, int code) {
  int error = db ? sqlite3_system_errno(db) : 0;
  if (error != ENOSPC && error != EDQUOT) return false;
  return code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE ||
         code == SQLITE_IOERR_SHMMAP || code == SQLITE_IOERR_SHMOPEN ||
         (code & 0xff) == SQLITE_CANTOPEN;
}

/// The primary code that says what went wrong.
int meaning(sqlite3* db, int code) {
  if (code == SQLITE_IOERR_NOMEM) return SQLITE_NOMEM;
  return out_of_room(db, code) ? SQLITE_FULL : code & 0xff;
}

std::string busy_text(const std::string& file, std::string_view doing) {
  auto text = fmt::format("{} stayed locked by another program while {}", file, doing);
  auto writer = sqlite_writer(file);
  auto seen = writer ? look_at_process(*writer) : std::nullopt;
  if (!seen) return text + "; 'holdfast doctor' shows who has it open";
  return text + fmt::format(": process {} ({}) has not ended its transaction{}", seen->pid,
                            seen->command, seen->stopped ? ", and is stopped" : "");
}

}  // namespace

bool is_storage_failure(sqlite3* db, int code) { return meaning(db, code) == SQLITE_IOERR; }

void throw_sqlite_error(sqlite3* db, int code, std::string_view doing) {
  auto file = file_of(db);
  auto said = db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  switch (meaning(db, code)) {
    case SQLITE_FULL:
      throw DiskFull{
          fmt::format("no room left on the disk of {} while {}; nothing was written. "
                      "Free some space: running work waits for it, and then settles",
                      file, doing)};
    case SQLITE_IOERR:
      throw StorageFailed{
          fmt::format("the storage failed under {} while {}: {} ({}). Check the "
                      "disk, then start again: recovery takes over",
                      file, doing, said, code)};
    case SQLITE_NOTADB:
      throw StoreUnusable{fmt::format("{} is not a database; name another file", file)};
    case SQLITE_CORRUPT:
      throw StoreUnusable{
          fmt::format("{} is damaged (while {}: {}); restore a backup or let "
                      "recovery repair it",
                      file, doing, said)};
    case SQLITE_READONLY:
      throw StoreReadOnly{fmt::format(
          "{} cannot be changed by us (while {}: {}); check the permissions of the file "
          "and of its folder",
          file, doing, said)};
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      throw StoreError{
          fmt::format("cannot write {} while {}: {}; check that the folder exists and "
                      "that you may write to it",
                      file, doing, said)};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw StoreError{busy_text(file, doing)};
    default:
      throw StoreError{fmt::format("{} failed on {}: {} ({})", doing, file, said, code)};
  }
}

Statement::~Statement() {
  if (!statement_) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

bool Statement::step() {
  int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  throw_sqlite_error(db_, code, "running a statement");
}

void Statement::run() {
  step();
  again();
}

bool Statement::run_if_allowed() {
  int code = sqlite3_step(statement_);
  again();
  if (code != SQLITE_DONE && (code & 0xff) != SQLITE_CONSTRAINT)
    throw_sqlite_error(db_, code, "running a statement");
  return code == SQLITE_DONE;
}

void Statement::again() { sqlite3_reset(statement_); }

void Statement::bind_one(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_, index, value);
}
void Statement::bind_one(int index, double value) { sqlite3_bind_double(statement_, index, value); }
void Statement::bind_one(int index, std::string_view value) {
  auto code = sqlite3_bind_text64(statement_, index, value.data() ? value.data() : "", value.size(),
                                  SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK) throw_sqlite_error(db_, code, "binding a text");
}
Statement& Statement::bind_pointer(int index, void* pointer, const char* type) {
  auto code = sqlite3_bind_pointer(statement_, index, pointer, type, nullptr);
  if (code != SQLITE_OK) throw_sqlite_error(db_, code, "binding a pointer");
  return *this;
}

void Statement::bind_one(int index, std::nullptr_t) { sqlite3_bind_null(statement_, index); }
void Statement::bind_one(int index, std::span<const std::uint8_t> blob) {
  // Without an address it would be NULL, and an empty span may have none.
  const void* bytes = blob.empty() ? "" : static_cast<const void*>(blob.data());
  auto code = sqlite3_bind_blob64(statement_, index, bytes, blob.size_bytes(), SQLITE_STATIC);
  if (code != SQLITE_OK) throw_sqlite_error(db_, code, "binding a blob");
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string Statement::text(int column) const {
  auto data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  // NULL, or there was no memory for it. Then an empty text would be a wrong answer.
  if (!data && sqlite3_errcode(db_) == SQLITE_NOMEM)
    throw_sqlite_error(db_, SQLITE_NOMEM, "reading a text");
  if (!data) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

bool Statement::is_integer(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_INTEGER;
}
bool Statement::is_text(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_TEXT;
}

namespace {

template <class AnyId>
AnyId read_id(sqlite3_stmt* statement, int column) {
  AnyId id;
  auto blob = sqlite3_column_blob(statement, column);
  if (blob && sqlite3_column_bytes(statement, column) == 16) std::memcpy(id.bytes.data(), blob, 16);
  return id;
}

}  // namespace

TaskId Statement::task_id(int column) const { return read_id<TaskId>(statement_, column); }
WorkerId Statement::worker_id(int column) const { return read_id<WorkerId>(statement_, column); }

WallTime Statement::time(int column) const { return WallTime{Millis{integer(column)}}; }

std::optional<WallTime> Statement::optional_time(int column) const {
  if (is_null(column)) return {};
  return time(column);
}

void Connection::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Connection::Connection(const std::string& path, Mode mode, Durability durability) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
              (mode == Mode::read_write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                        : SQLITE_OPEN_READONLY);
  auto name = path;
  if (mode == Mode::immutable) {
    flags |= SQLITE_OPEN_URI;
    name = immutable_uri(path);
  }
  if (mode == Mode::read_write && path != ":memory:") create_database(path, FilesFor::owner);
  int code = sqlite3_open_v2(name.c_str(), &db_, flags, nullptr);
  try {
    if (code != SQLITE_OK) throw_sqlite_error(db_, code, fmt::format("opening {}", path));
    sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_busy_timeout(db_, busy_patience_ms);
    execute(common_pragmas);
    if (mode == Mode::read_write) {
      execute(writing_pragmas);
      add_row_sum_functions(db_);
      execute("PRAGMA journal_mode=WAL");
      execute(durability == Durability::power_safe ? "PRAGMA synchronous=FULL"
                                                   : "PRAGMA synchronous=NORMAL");
    } else {
      execute("PRAGMA cache_size=-2000");
    }
  } catch (const Error&) {
    sqlite3_close_v2(db_);
    throw;
  }
}

Connection::Connection(sqlite3* borrowed) : db_{borrowed}, owned_{false} {}

Connection::~Connection() {
  statements_.clear();
  if (owned_) sqlite3_close_v2(db_);
}

Statement Connection::use(std::string_view sql) {
  auto& cached = statements_[sql.data()];
  if (!cached) {
    sqlite3_stmt* prepared = nullptr;
    const auto text = with_state_numbers(sql);
    int code = sqlite3_prepare_v3(db_, text.data(), static_cast<int>(text.size()),
                                  SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
    if (code != SQLITE_OK) throw_sqlite_error(db_, code, "preparing a statement");
    cached.reset(prepared);
  }
  return Statement{db_, cached.get()};
}

void Connection::execute(const std::string& sql) {
  int code = sqlite3_exec(db_, with_state_numbers(sql).c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw_sqlite_error(db_, code, "running a statement");
}

std::int64_t Connection::changes() const { return sqlite3_changes64(db_); }
std::int64_t Connection::last_insert() const { return sqlite3_last_insert_rowid(db_); }

std::int64_t Connection::number(std::string_view sql) {
  auto query = use(sql);
  return query.step() ? query.integer(0) : 0;
}

Connection::Once::Once(Connection& db, const std::string& sql) {
  const auto text = with_state_numbers(sql);
  int code =
      sqlite3_prepare_v2(db.handle(), text.c_str(), static_cast<int>(text.size()), &raw_, nullptr);
  if (code != SQLITE_OK) throw_sqlite_error(db.handle(), code, "preparing a search");
  statement_.emplace(db.handle(), raw_);
}

Connection::Once::~Once() {
  statement_.reset();
  sqlite3_finalize(raw_);
}

}  // namespace holdfast::sqlite
