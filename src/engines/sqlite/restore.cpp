#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <holdfast/error.hpp>
#include <holdfast/sqlite.hpp>

#include "engines/sqlite/check_integrity.hpp"
#include "engines/sqlite/database_file.hpp"
#include "engines/sqlite/hold_task.hpp"
#include "engines/sqlite/loss_note.hpp"
#include "engines/sqlite/open_lock.hpp"
#include "engines/sqlite/replace_file.hpp"
#include "engines/sqlite/schedules.hpp"
#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/store_path.hpp"
#include "engines/sqlite/whole_file.hpp"
#include "engines/sqlite/work_copy.hpp"
#include "recovery/actors.hpp"
#include "recovery/clock.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::sqlite {

namespace {

namespace fs = std::filesystem;

/// How long to wait for somebody who is making the store ready or closing it.
constexpr Millis patience{2'000};

/// What the store that is to be replaced has given out already, as far as it can be read.
struct Predecessor {
  bool usable = false;
  std::int64_t tasks = 0;
  std::int64_t epoch = 0;
  std::int64_t token = 0;
};

Predecessor look_at(const std::string& path, const SideFiles& files) {
  Predecessor found;
  try {
    Connection db{path, Connection::Mode::read_only, Durability::crash_safe};
    if (!has_schema(db)) return found;
    found.epoch = db.number("SELECT value FROM holdfast_meta WHERE key = 'store_epoch'");
    found.tasks = db.number("SELECT count(*) FROM holdfast_tasks");
    found.token = db.number("SELECT coalesce(max(token), 0) FROM holdfast_tasks");
    // Where commits are lost, nobody can do more than read until a person decides: this is that.
    found.usable = check_integrity(db, {}).passed && !LossNote::read(files);
  } catch (const StoreError&) {
    // It is to be replaced because it cannot be read.
  }
  return found;
}

/// Copies the backup to where it is made ready. Of a copy that somebody made by hand the log comes
/// along.
void fetch(const std::string& backup, const std::string& fresh) {
  if (!fs::exists(backup)) throw InvalidRequest{fmt::format("there is no file {}", backup)};
  if (fs::is_directory(backup)) throw InvalidRequest{fmt::format("{} is a folder", backup)};
  remove_database(fresh);
  copy_file(backup, fresh);
  copy_file(backup + "-wal", fresh + "-wal");
}

/// Returns the version of its tables.
int expect_sound(Connection& db, const std::string& backup) {
  if (!has_schema(db))
    throw InvalidRequest{fmt::format("{} is not a backup: there is no store in it", backup)};
  const auto version = known_version(db, backup);
  auto check = check_integrity(db, {.full = true});
  if (check.passed) return version;
  throw StoreUnusable{
      fmt::format("the backup {} is damaged itself: {}. Use another one; nothing was changed",
                  backup, check.damage.front().what)};
}

/// Every task that is not finished may have gone on after the backup was made.
std::int64_t hold_unfinished(Connection& db, const std::string& cause, WallTime now) {
  std::vector<std::int64_t> tasks;
  auto query =
      db.use("SELECT seq FROM holdfast_tasks WHERE state IN ({pending}, {running}, {blocked})");
  while (query.step()) tasks.push_back(query.integer(0));
  for (auto seq : tasks) hold_task(db, seq, actors::restore, cause, now);
  return db.number("SELECT count(*) FROM holdfast_tasks WHERE state = {held}");
}

/// Rows may have run since, too. Batches that have not ended wait until a person releases them.
void hold_batches(Connection& db) {
  db.execute(
      "UPDATE holdfast_batchrows SET status = 0, doneby = NULL WHERE status = 1;"
      "UPDATE holdfast_batches SET status = 5 WHERE status < 2;"
      "DELETE FROM holdfast_batch_claims");
}

/// Nobody of those who worked on the store then is there now.
void dismiss_workers(Connection& db, WallTime now) {
  db.use(
        "UPDATE holdfast_workers SET stopped_at = coalesce(stopped_at, ?1), cleared_at = ?1"
        " WHERE cleared_at IS NULL")
      .bind(now)
      .run();
}

RestoreResult make_ready(const std::string& fresh, const std::string& backup,
                         const Predecessor& before) {
  Connection db{fresh, Connection::Mode::read_write, Durability::crash_safe};
  const auto version = expect_sound(db, backup);
  RestoreResult result;
  {
    auto made = db.use("SELECT value FROM holdfast_meta WHERE key = 'backup_at'");
    if (made.step()) result.made_at = made.time(0);
  }
  // Later than everything that was ever given out, also if the clock was set back meanwhile.
  WallTime now = std::max(system_clock().wall(), WallTime{Millis{before.token / 1000 + 1}});
  auto cause = fmt::format("Restored from a backup{}: it may have run since.",
                           result.made_at ? " of " + iso8601(*result.made_at) : "");
  db.execute("BEGIN IMMEDIATE");
  upgrade_tables(db, version);
  result.held = hold_unfinished(db, cause, now);
  db.counts().write(db);
  hold_batches(db);
  dismiss_workers(db, now);
  pause_schedules(db);
  db.use("UPDATE holdfast_meta SET value = max(value, ?) + 1 WHERE key = 'store_epoch'")
      .bind(before.epoch)
      .run();
  // The store that it is a backup of may still be there, and then it is another one.
  db.execute("DELETE FROM holdfast_meta WHERE key IN ('backup_at', 'open', 'store_id')");
  result.tasks = db.number("SELECT count(*) FROM holdfast_tasks");
  db.execute("COMMIT");
  return result;
}

}  // namespace

RestoreResult restore(const std::string& file, const std::string& backup,
                      const RestoreOptions& options) {
  const auto store = real_database(file);
  std::error_code unknown;
  if (fs::equivalent(store, backup, unknown))
    throw InvalidRequest{fmt::format("{} is the store itself; name a backup of it", backup)};
  if (!fs::exists(backup)) throw InvalidRequest{fmt::format("there is no file {}", backup)};
  const auto whom = options.for_group ? FilesFor::group : FilesFor::owner;
  refuse_planted_database(store, whom);
  SideFiles files{store, whom};
  OpenLock lock{files, Patience{patience}};
  if (!lock.alone())
    throw StoreError{
        fmt::format("{} is in use; stop whoever uses it ('holdfast worker list' names "
                    "the workers) and restore then",
                    store)};
  finish_replacement(store, files);
  auto before = look_at(store, files);
  if (before.usable && !options.overwrite)
    throw InvalidRequest{fmt::format(
        "there is a store at {} that can be used ({} tasks); with --force the backup takes its "
        "place, and the file is kept beside it",
        store, before.tasks)};
  DatabaseFile original{store};
  if (original.found() == DatabaseFile::Found::in_use)
    throw StoreError{fmt::format("another program has {} open; close it first", store)};
  auto fresh = fresh_database(files);
  fetch(backup, fresh);
  auto result = make_ready(fresh, backup, before);
  finish_database(fresh);
  bool replaces = fs::exists(store);
  auto aside = replace_database(store, files, "replaced");
  if (replaces) result.kept_aside = aside;
  return result;
}

}  // namespace holdfast::sqlite
