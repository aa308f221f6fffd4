#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <holdfast/error.hpp>
#include <holdfast/sqlite.hpp>

#include "engines/sqlite/check_integrity.hpp"
#include "engines/sqlite/copy_store.hpp"
#include "engines/sqlite/engine.hpp"
#include "engines/sqlite/store.hpp"
#include "engines/sqlite/whole_file.hpp"
#include "engines/sqlite/work_copy.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::sqlite {

namespace {

namespace fs = std::filesystem;

/// Between two steps somebody may stop us.
constexpr int pages_in_step = 512;

/// One moment of the store, for as long as this lives. Writers go on; the log cannot be started
/// anew meanwhile, and whoever wants to does not wait long for us.
class Moment {
 public:
  explicit Moment(Connection& db) : db_{db} {
    db_.execute("BEGIN");
    db_.number("SELECT count(*) FROM sqlite_schema");
  }
  ~Moment() { sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr); }
  Moment(const Moment&) = delete;
  Moment& operator=(const Moment&) = delete;

 private:
  Connection& db_;
};

/// SQLite's copying of pages. In an open transaction it sees the same moment in every step, so it
/// need not begin anew when others write.
class PageStream {
 public:
  PageStream(Connection& from, Connection& to) : to_{to} {
    stream_ = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
    if (!stream_) throw_sqlite_error(to.handle(), sqlite3_errcode(to.handle()), "copying it");
  }
  ~PageStream() { sqlite3_backup_finish(stream_); }
  PageStream(const PageStream&) = delete;
  PageStream& operator=(const PageStream&) = delete;

  /// False: everything is copied.
  bool step() {
    int code = sqlite3_backup_step(stream_, pages_in_step);
    if (code == SQLITE_DONE) return false;
    if (code != SQLITE_OK) throw_sqlite_error(to_.handle(), code, "copying the store");
    return true;
  }
  std::int64_t total() const { return sqlite3_backup_pagecount(stream_); }
  std::int64_t done() const { return total() - sqlite3_backup_remaining(stream_); }

 private:
  Connection& to_;
  sqlite3_backup* stream_ = nullptr;
};

/// What a backup is called until it is one. A process that was killed leaves such a file behind.
std::string part_name(const std::string& file) {
  return fmt::format("{}.part-{}", file, ::getpid());
}

void remove_parts_of_the_dead(const std::string& file) {
  auto folder = fs::path{file}.parent_path();
  auto begin = fs::path{file}.filename().string() + ".part-";
  for (const auto& entry : fs::directory_iterator{folder.empty() ? "." : folder}) {
    auto name = entry.path().filename().string();
    if (!name.starts_with(begin)) continue;
    int pid = std::atoi(name.c_str() + begin.size());
    if (pid > 0 && pid != ::getpid() && ::kill(pid, 0) != 0 && errno == ESRCH)
      ::unlink(entry.path().c_str());
  }
}

void expect_free_name(const std::string& file, const Store& store, bool overwrite) {
  std::error_code unknown;
  if (fs::equivalent(file, store.path, unknown))
    throw InvalidRequest{fmt::format("{} is the store itself; name another file", file)};
  if (fs::is_directory(file, unknown))
    throw InvalidRequest{fmt::format("{} is a folder; name a file", file)};
  if (!overwrite && fs::exists(fs::symlink_status(file, unknown)))
    throw InvalidRequest{
        fmt::format("{} is there already; name another file, or overwrite it with --force", file)};
  auto folder = fs::path{file}.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, unknown))
    throw InvalidRequest{fmt::format("there is no folder {}; make it first", folder.string())};
}

/// False: somebody wants us to stop.
bool copy_pages(const std::string& path, const std::string& part, const BackupOptions& options) {
  Connection from{path, Connection::Mode::read_only, Durability::crash_safe};
  Connection to{part, Connection::Mode::read_write, Durability::crash_safe};
  to.execute("PRAGMA journal_mode=DELETE; PRAGMA synchronous=OFF");
  Moment moment{from};
  PageStream stream{from, to};
  auto page = from.number("PRAGMA page_size");
  while (stream.step()) {
    if (options.progress) options.progress(stream.done() * page, stream.total() * page);
    if (options.stop.stop_requested()) return false;
  }
  if (options.progress) options.progress(stream.total() * page, stream.total() * page);
  return true;
}

/// Checks the copy and makes a single file of it, which says when it was made.
void complete(const std::string& part, const std::string& path, WallTime now,
              BackupResult& result) {
  {
    Connection db{part, Connection::Mode::read_write, Durability::crash_safe};
    auto check = check_integrity(db, {});
    if (!check.passed) {
      throw StoreUnusable{fmt::format(
          "{} is damaged, so a copy of it would be no backup: {}. Run 'holdfast doctor'", path,
          check.damage.front().what)};
    }
    db.use("INSERT OR REPLACE INTO holdfast_meta (key, value) VALUES ('backup_at', ?)")
        .bind(now)
        .run();
    result.tasks = db.number("SELECT count(*) FROM holdfast_tasks");
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    db.execute("PRAGMA journal_mode=DELETE");
  }
  remove_side_files(part);
  sync_file(part);
  result.bytes = static_cast<std::int64_t>(fs::file_size(part));
}

/// Removes an unfinished copy, whatever keeps it from being finished.
class Unfinished {
 public:
  explicit Unfinished(std::string part) : part_{std::move(part)} { remove_database(part_); }
  ~Unfinished() {
    ::unlink(part_.c_str());
    remove_side_files(part_);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

 private:
  std::string part_;
};

}  // namespace

BackupResult copy_store(const std::string& path, const std::string& file, WallTime now,
                        const BackupOptions& options) {
  auto began = std::chrono::steady_clock::now();
  remove_parts_of_the_dead(file);
  auto part = part_name(file);
  Unfinished cleaning{part};
  BackupResult result;
  result.completed = copy_pages(path, part, options);
  if (!result.completed) return result;
  complete(part, path, now, result);
  kill_point(KillPoint::backup_before_rename);
  move_file(part, file);
  sync_folder_of(file);
  kill_point(KillPoint::backup_after_rename);
  result.duration = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - began);
  return result;
}

BackupResult backup(const Engine& engine, const std::string& file, const BackupOptions& options) {
  const auto& store = store_of(engine);
  expect_free_name(file, store, options.overwrite);
  return copy_store(store.path, file, store.clock.wall(), options);
}

}  // namespace holdfast::sqlite
