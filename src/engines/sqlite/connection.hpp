#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <holdfast/error.hpp>
#include <holdfast/ids.hpp>
#include <holdfast/settings.hpp>
#include <holdfast/task.hpp>

#include "engines/sqlite/counts.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace holdfast::sqlite {

/// A prepared statement in use. Bind in order, step through rows, read by column; it resets itself
/// when it goes out of scope, so it can be used again.
///
///     auto find = db.use("SELECT state FROM holdfast_tasks WHERE id = ?");
///     find.bind(id);
///     if (find.step()) state = find.integer(0);
class Statement {
 public:
  explicit Statement(sqlite3* db, sqlite3_stmt* statement) : db_{db}, statement_{statement} {}
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  /// Binds all arguments, first to last. Ids become 16-byte blobs, times milliseconds, enums and
  /// tokens integers, empty optionals NULL. Text is not copied: it must outlive the last `step`.
  template <class... Args>
  Statement& bind(const Args&... args) {
    return bind_from(1, args...);
  }
  /// The same, but the first argument goes to parameter `first`.
  template <class... Args>
  Statement& bind_from(int first, const Args&... args) {
    (bind_one(first++, args), ...);
    return *this;
  }

  /// Something for an SQL function of ours that knows `type`; must outlive the last `step`.
  Statement& bind_pointer(int index, void* pointer, const char* type);

  bool step();  ///< to the next row; false: no more
  void run();   ///< steps once, expects no row, resets so that it can be bound again
  /// The same; false, and nothing was changed, if a constraint of the schema forbids it.
  bool run_if_allowed();
  /// Makes it ready to be bound and stepped again.
  void again();

  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;
  bool is_integer(int column) const;
  bool is_text(int column) const;
  TaskId task_id(int column) const;
  WorkerId worker_id(int column) const;
  WallTime time(int column) const;
  std::optional<WallTime> optional_time(int column) const;

 private:
  void bind_one(int index, std::int64_t value);
  void bind_one(int index, int value) { bind_one(index, std::int64_t{value}); }
  void bind_one(int index, bool value) { bind_one(index, std::int64_t{value}); }
  void bind_one(int index, double value);
  void bind_one(int index, std::string_view value);
  void bind_one(int index, const std::string& value) { bind_one(index, std::string_view{value}); }
  void bind_one(int index, const char* value) { bind_one(index, std::string_view{value}); }
  void bind_one(int index, std::nullptr_t);
  void bind_one(int index, std::span<const std::uint8_t> blob);
  template <class Tag>
  void bind_one(int index, const Id<Tag>& id) {
    bind_one(index, std::span{id.bytes});
  }
  void bind_one(int index, Token token) { bind_one(index, token.value); }
  void bind_one(int index, Millis value) { bind_one(index, std::int64_t{value.count()}); }
  void bind_one(int index, WallTime value) { bind_one(index, value.time_since_epoch()); }
  void bind_one(int index, TaskState value) { bind_one(index, static_cast<std::int64_t>(value)); }
  template <class T>
  void bind_one(int index, const std::optional<T>& value) {
    value ? bind_one(index, *value) : bind_one(index, nullptr);
  }

  sqlite3* db_;
  sqlite3_stmt* statement_;
};

/// How long SQLite waits for its own locks, which foreign connections may hold for a while.
constexpr int busy_patience_ms = 30'000;

/// One connection to the file, with our pragmas and a cache of prepared statements. One thread at a
/// time.
class Connection {
 public:
  enum class Mode {
    read_write,
    read_only,
    immutable,  ///< read-only, and nobody else writes either: needs no locks and no other files
  };
  Connection(const std::string& path, Mode mode, Durability durability);
  /// Borrows a connection that the caller brought; leaves it open.
  explicit Connection(sqlite3* borrowed);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// A statement with this text, prepared on first use. The text must be a constant: it is known
  /// again by where it is, because hashing it would cost as much as finding a row. It names states
  /// as state_numbers.hpp says.
  Statement use(std::string_view sql);
  /// The same for text that is built at run time (searches): prepared each time, not cached.
  class Once;
  void execute(const std::string& sql);  ///< statements without results
  std::int64_t changes() const;          ///< rows changed by the last statement
  std::int64_t last_insert() const;
  std::int64_t number(std::string_view sql);  ///< the first column of the first row, or 0
  sqlite3* handle() const { return db_; }
  /// What the transaction at hand changes, and whoever commits it writes.
  CountChanges& counts() { return counts_; }

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* db_ = nullptr;
  bool owned_ = true;
  CountChanges counts_;
  std::unordered_map<const char*, std::unique_ptr<sqlite3_stmt, Finalizer>> statements_;
};

/// A statement built at run time, gone after use.
class Connection::Once {
 public:
  Once(Connection& db, const std::string& sql);
  ~Once();
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;
  Statement& operator*() { return *statement_; }
  Statement* operator->() { return &*statement_; }

 private:
  sqlite3_stmt* raw_ = nullptr;
  std::optional<Statement> statement_;
};

/// Throws the error of ours that fits SQLite's code: full disk, not a database, I/O failure, ...
/// The disk has no room, whatever was to be written.
class DiskFull : public StoreFull {
  using StoreFull::StoreFull;
};
[[noreturn]] void throw_sqlite_error(sqlite3* db, int code, std::string_view doing);
/// Whether that is `StorageFailed`: nobody knows any more what is on disk.
bool is_storage_failure(sqlite3* db, int code);

}  // namespace holdfast::sqlite
