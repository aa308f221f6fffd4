#include "engines/sqlite/start_up.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "engines/sqlite/check_integrity.hpp"
#include "engines/sqlite/database_file.hpp"
#include "engines/sqlite/evidence.hpp"
#include "engines/sqlite/loss_note.hpp"
#include "engines/sqlite/lost_tasks.hpp"
#include "engines/sqlite/open_read_only.hpp"
#include "engines/sqlite/repair.hpp"
#include "engines/sqlite/replace_file.hpp"
#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/wal_check.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::sqlite {

namespace {

namespace fs = std::filesystem;

/// What is left of ten seconds after everything else.
constexpr Millis check_limit{8'000};
constexpr Millis brief_patience{10'000};

std::string boot_of(const std::string& clock_domain) {
  return clock_domain.substr(0, clock_domain.find('/'));
}

/// What the first one to open a store does.
class Ladder {
 public:
  Ladder(const std::string& path, const Settings& settings, const Clock& clock,
         const OpenOptions& options, Opened& opened)
      : path_{path},
        settings_{settings},
        clock_{clock},
        options_{options},
        opened_{opened},
        boot_{boot_of(clock_domain())},
        new_{!fs::exists(path) || fs::file_size(path) == 0},
        suspicious_{fs::exists(opened.files.suspect())} {}

  void climb() {
    read_files();
    name_lost_tasks();
    if (start_up_.level == RunLevel::normal) {
      connect_or_mend();
      check();
      shorten_log();
      find_recovery_point();
    }
    kill_point(KillPoint::start_up_before_ready);
    opened_.level = start_up_.level;
    opened_.worth_reporting = !start_up_.evidence.empty() || !start_up_.losses.empty();
    opened_.keep_mark = start_up_.unclean && options_.stay == Stay::brief;
    opened_.start_up = std::move(start_up_);
    opened_.lock->note_boot(boot_);
  }

 private:
  void read_files() {
    DatabaseFile database{path_};
    in_use_ = database.found() == DatabaseFile::Found::in_use;
    if (in_use_) heed_loss_note();
    if (database.found() != DatabaseFile::Found::taken) return;
    refuse_emptied(database);
    if (!new_) start_up_.journal_mode = database.header().wal_mode ? "wal" : "delete";
    WalCheck log{path_,
                 opened_.files,
                 database,
                 {.rebooted = opened_.lock->last_boot() != boot_,
                  .durability = settings_.durability,
                  .accept_loss = options_.accept_loss,
                  .now = clock_.wall()}};
    log.carry_out(start_up_);
    opened_.reason = log.reason();
    suspicious_ |= log.suspicious();
    newly_lost_ = log.newly_lost();
  }

  /// Nothing can be scanned while another program writes, but what was found before holds.
  void heed_loss_note() {
    auto note = LossNote::read(opened_.files);
    if (!note || options_.accept_loss) return;
    start_up_.level = RunLevel::read_only;
    start_up_.losses = note->losses;
    opened_.reason = note->reason;
  }

  /// A store that was made has a schema, so an empty file is what something else left of it.
  void refuse_emptied(const DatabaseFile& database) const {
    if (database.bytes().size > 0 || !fs::exists(opened_.files.made())) return;
    throw StoreUnusable{
        fmt::format("{} is empty, but there was a store in it: something has cut it off. Put a "
                    "backup in its place with 'holdfast restore', or remove the file and {} to "
                    "begin a new store",
                    path_, opened_.files.folder())};
  }

  /// While it is there to be read: a checkpoint forgets it.
  void name_lost_tasks() {
    if (!newly_lost_) return;
    try {
      auto db = open_read_only(path_, settings_.durability);
      for (auto& loss : lost_tasks(path_, *db)) start_up_.losses.push_back(std::move(loss));
    } catch (const StoreUnusable&) {
      return;  // nothing is left to compare with, which whoever opens it next is told
    }
    auto note = LossNote::read(opened_.files);
    if (!note) return;
    note->losses = start_up_.losses;
    note->write(opened_.files);
  }

  void connect_or_mend() {
    try {
      connect();
    } catch (const StoreUnusable& error) {
      if (new_ || newer_) throw;
      mend(error.what());
    }
  }

  /// Whatever is wrong: the evidence first, then the gentlest thing that helps.
  void mend(const std::string& why) {
    opened_.connection.reset();
    secure_evidence(why);
    auto done = repair(path_, opened_.files);
    start_up_.repair = to_string(done.how);
    start_up_.kept_aside = done.kept_aside;
    start_up_.losses.insert(start_up_.losses.end(), done.losses.begin(), done.losses.end());
    connect();
    fs::remove(opened_.files.suspect());
  }

  void secure_evidence(const std::string& why) {
    if (!start_up_.evidence.empty()) return;
    DatabaseFile database{path_};
    if (database.found() == DatabaseFile::Found::in_use)
      throw StoreUnusable{fmt::format(
          "{} is damaged ({}), and cannot be repaired while another program has it open; "
          "close that, then start again",
          path_, why)};
    start_up_.evidence = copy_evidence(path_, opened_.files, clock_.wall(), why);
  }

  void connect() {
    opened_.connection =
        std::make_unique<Connection>(path_, Connection::Mode::read_write, settings_.durability);
    auto& db = *opened_.connection;
    auto mode = db.use("PRAGMA journal_mode");
    if (!mode.step() || mode.text(0) != "wal")
      throw StoreError{fmt::format(
          "{} cannot be switched to a write-ahead log: another program has it open in another "
          "journal mode; close that first",
          path_)};
    start_up_.wal_restored = !start_up_.journal_mode.empty() && start_up_.journal_mode != "wal";
    if (start_up_.journal_mode.empty()) start_up_.journal_mode = "wal";
    if (!has_schema(db)) return;
    newer_ =
        db.number("SELECT value FROM holdfast_meta WHERE key = 'schema_version'") > schema_version;
    refuse_newer_schema(db, path_);
    auto marker = db.use("SELECT value FROM holdfast_meta WHERE key = 'open'");
    start_up_.unclean = marker.step();
    start_up_.rebooted = start_up_.unclean && marker.text(0) != boot_;
  }

  void check() {
    bool asked = settings_.recovery.integrity_check_on_startup && options_.stay != Stay::brief;
    start_up_.integrity.completed = false;
    if (new_ || !(asked || suspicious_)) return;
    start_up_.integrity =
        check_integrity(*opened_.connection, {.full = suspicious_, .within = check_limit});
    const auto& found = start_up_.integrity;
    if (!found.passed) return mend(found.damage.front().what);
    if (found.completed) fs::remove(opened_.files.suspect());
  }

  /// So that the next start has little to read, and what was lost is not found again.
  void shorten_log() {
    if (options_.stay == Stay::brief && !options_.accept_loss) return;
    kill_point(KillPoint::start_up_before_checkpoint);
    int code = SQLITE_BUSY, frames = 0, copied = 0;
    if (!in_use_)
      code = sqlite3_wal_checkpoint_v2(opened_.connection->handle(), "main",
                                       SQLITE_CHECKPOINT_TRUNCATE, &frames, &copied);
    kill_point(KillPoint::start_up_after_checkpoint);
    // A log that cannot be copied now is copied later. But after a failed sync, later may only seem
    // to work.
    auto* db = opened_.connection->handle();
    if (is_storage_failure(db, code))
      throw_sqlite_error(db, code, "copying the write-ahead log into it");
    if (code == SQLITE_OK) {
      start_up_.wal_frames_checkpointed = start_up_.wal_frames;
      if (options_.accept_loss) LossNote::forget(opened_.files);
    } else {
      start_up_.checkpoint_error =
          in_use_ ? "another program has the database open" : sqlite3_errstr(code);
    }
  }

  void find_recovery_point() {
    if (!start_up_.recovery_point || !has_schema(*opened_.connection)) return;
    auto newest =
        opened_.connection->use("SELECT id FROM holdfast_tasks ORDER BY seq DESC LIMIT 1");
    if (newest.step()) start_up_.recovery_point->newest = newest.task_id(0);
  }

  const std::string& path_;
  const Settings& settings_;
  const Clock& clock_;
  const OpenOptions& options_;
  Opened& opened_;
  std::string boot_;
  bool new_;
  bool suspicious_;
  bool newer_ = false;  ///< made by a later version: not damage
  bool newly_lost_ = false;
  bool in_use_ = false;  ///< by programs that know nothing of us
  StartUp start_up_{};
};

/// Others are here: the store is ready.
void join(const std::string& path, const Settings& settings, Opened& opened) {
  if (auto note = LossNote::read(opened.files)) {
    opened.level = RunLevel::read_only;
    opened.reason = note->reason;
    return;
  }
  opened.connection =
      std::make_unique<Connection>(path, Connection::Mode::read_write, settings.durability);
  if (has_schema(*opened.connection)) refuse_newer_schema(*opened.connection, path);
}

/// Nothing, or why the database may not be changed by us.
std::optional<std::string> why_not_ours_to_change(const std::string& path) {
  if (!fs::exists(path) || ::access(path.c_str(), W_OK) == 0) return {};
  return fmt::format("{} cannot be changed by us: {}", path, std::strerror(errno));
}

/// Before anything is made beside it: a file that is no database gets nothing.
void refuse_other_files(const std::string& path) {
  std::error_code unknown;
  if (!fs::exists(path) || fs::exists(SideFiles::named(path).folder())) return;
  // A power cut while it was made leaves half a header, and the journal that undoes it.
  if (fs::exists(path + "-journal")) return;
  if (!fs::is_regular_file(path, unknown))
    throw StoreUnusable{fmt::format("{} is not a file; name another", path)};
  DatabaseFile file{path};
  if (file.found() != DatabaseFile::Found::taken || file.bytes().size == 0) return;
  if (!file.header().is_database)
    throw StoreUnusable{fmt::format("{} is not a database; name another file", path)};
}

Opened open_unchangeable(const std::string& path, std::string reason) {
  return {
      .files = SideFiles::named(path), .level = RunLevel::read_only, .reason = std::move(reason)};
}

}  // namespace

Patience patience_of(Stay stay) {
  if (stay == Stay::lasting) return {};
  return brief_patience;
}

Opened open_database(const std::string& path, const Settings& settings, const Clock& clock,
                     const OpenOptions& options) {
  if (auto why = why_not_ours_to_change(path)) return open_unchangeable(path, *why);
  refuse_other_files(path);
  Opened opened{.files = SideFiles::named(path)};
  try {
    opened.files = SideFiles{path};
    opened.lock = std::make_unique<OpenLock>(opened.files, patience_of(options.stay));
  } catch (const StoreReadOnly& error) {
    if (!fs::exists(path)) throw;
    return open_unchangeable(path, error.what());
  }
  if (opened.lock->alone()) {
    finish_replacement(path, opened.files);
    Ladder{path, settings, clock, options, opened}.climb();
    if (opened.level == RunLevel::normal && opened.connection) return opened;
    opened.lock->ready();
  } else {
    join(path, settings, opened);
  }
  return opened;
}

}  // namespace holdfast::sqlite
