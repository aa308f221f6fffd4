#include "engines/sqlite/adopt.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include <fmt/format.h>

#include "engines/sqlite/row_sum.hpp"

namespace holdfast::sqlite {

namespace {

bool same_file(const char* a, const std::string& b) {
  struct stat first {
  }, second{};
  return a && ::stat(a, &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/// A descriptor of the wake file for the rest of the process, because the caller's connection may
/// outlive the engine.
int lasting_wake_file(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, FileDescriptor> files;
  std::lock_guard lock{mutex};
  auto& file = files[path];
  if (!file) file = open_private(path, O_WRONLY | O_CREAT);
  return file.get();
}

/// SQLite calls this after a commit, when its lock is released.
int wake_workers(void* wake_file, sqlite3*, const char*, int) {
  auto fd = static_cast<int>(reinterpret_cast<std::intptr_t>(wake_file));
  [[maybe_unused]] auto written = ::pwrite(fd, "!", 1, 0);
  return SQLITE_OK;
}

constexpr int synchronous_full = 2;

}  // namespace

void adopt(sqlite3* db, Store& store, Durability durability) {
  if (!same_file(sqlite3_db_filename(db, "main"), store.path)) {
    throw InvalidRequest{fmt::format(
        "the connection is not open on {}: tasks can only join a transaction on their own store",
        store.path)};
  }
  if (sqlite3_get_autocommit(db)) {
    throw InvalidRequest{"the connection is not in a transaction; begin one with BEGIN IMMEDIATE"};
  }
  Connection borrowed{db};
  if (durability == Durability::power_safe &&
      borrowed.number("PRAGMA synchronous") < synchronous_full) {
    throw InvalidRequest{
        "the connection does not sync its commits, but this store promises that acknowledged tasks "
        "survive a power cut; set PRAGMA synchronous=FULL before the transaction"};
  }
  // Not twice: a function cannot be replaced while the caller is reading something.
  if (borrowed.number(
          "SELECT count(*) FROM pragma_function_list WHERE name = 'holdfast_row_sum'") == 0)
    add_row_sum_functions(db);
  // What is in the log before its commit makes savepoints unsafe; see `do_whole`.
  // OFF takes effect outside of transactions only; a cache that it never outgrows does so at once.
  borrowed.execute("PRAGMA cache_spill=1000000000");
  // Replaces the hook that does SQLite's automatic checkpoints, and so turns them off.
  auto wake_file = static_cast<std::intptr_t>(lasting_wake_file(store.files.wake()));
  sqlite3_wal_hook(db, wake_workers, reinterpret_cast<void*>(wake_file));
}

}  // namespace holdfast::sqlite
