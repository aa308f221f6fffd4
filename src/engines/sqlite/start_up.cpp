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
#include "engines/sqlite/checkpoint.hpp"
#include "engines/sqlite/commit_mark.hpp"
#include "engines/sqlite/database_file.hpp"
#include "engines/sqlite/evidence.hpp"
#include "engines/sqlite/join.hpp"
#include "engines/sqlite/loss_note.hpp"
#include "engines/sqlite/lost_tasks.hpp"
#include "engines/sqlite/open_read_only.hpp"
#include "engines/sqlite/repair.hpp"
#include "engines/sqlite/replace_file.hpp"
#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/store_path.hpp"
#include "engines/sqlite/upgrade.hpp"
#include "engines/sqlite/wal_check.hpp"
#include "recovery/kill_point.hpp"
#include "recovery/roster.hpp"

namespace holdfast::sqlite {

namespace {

namespace fs = std::filesystem;

constexpr Millis brief_patience{10'000};
/// Everybody waits for who makes the store ready, and another program may write for long.
constexpr Millis checkpoint_patience{2'000};
constexpr int scan_patience_ms = 2'000;

/// While this lives nobody writes to the log, programs that know nothing of us included.
class WritersKeptOut {
 public:
  explicit WritersKeptOut(const std::string& path)
      : db_{path, Connection::Mode::read_write, Durability::crash_safe} {
    sqlite3_busy_timeout(db_.handle(), scan_patience_ms);
    db_.execute("BEGIN IMMEDIATE");
  }

 private:
  Connection db_;
};

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
        suspicious_{fs::exists(opened.files.suspect())},
        began_{clock.steady()} {
    start_up_.began = clock.wall();
    start_up_.integrity.completed = false;
  }

  void climb() {
    try {
      make_ready();
    } catch (const StoreUnusable& error) {
      start_up_.level = RunLevel::halted;
      start_up_.reason = error.what();
      if (options_.found) *options_.found = start_up_;
      throw;
    }
    kill_point(KillPoint::start_up_before_ready);
    start_up_.duration = clock_.steady() - began_;
    opened_.level = start_up_.level;
    opened_.reason = start_up_.reason;
    if (opened_.level != RunLevel::normal) opened_.trouble = start_up_;
    opened_.worth_reporting =
        !start_up_.evidence.empty() || !start_up_.losses.empty() || start_up_.wal_restored;
    opened_.keep_mark = start_up_.unclean && options_.stay == Stay::brief;
    opened_.start_up = std::move(start_up_);
    opened_.lock->note_boot(boot_);
    opened_.lock->note_checked(new_ || mended_ || checked_);
  }

 private:
  void make_ready() {
    read_files();
    auto left = what_is_left();
    name_lost_tasks(left.get());
    if (left && has_schema(*left)) look_for_mark(*left);
    if (start_up_.level != RunLevel::normal) return;
    left.reset();
    connect_or_mend();
    check();
    prepare_upgrade();
    if (start_up_.level != RunLevel::normal) return;
    shorten_log();
    find_recovery_point();
  }

  void read_files() {
    DatabaseFile database{path_};
    in_use_ = database.found() == DatabaseFile::Found::in_use;
    if (in_use_) return read_log_in_use();
    if (database.found() != DatabaseFile::Found::taken) return forget_predecessor();
    refuse_emptied(database);
    if (!new_) start_up_.journal_mode = database.header().wal_mode ? "wal" : "delete";
    read_log(&database);
  }

  void read_log(const DatabaseFile* database) {
    WalCheck log{path_,
                 opened_.files,
                 database,
                 {.rebooted = opened_.lock->last_boot() != boot_,
                  .durability = settings_.durability,
                  .accept_loss = options_.accept_loss,
                  .now = clock_.wall()}};
    log.carry_out(start_up_);
    suspicious_ |= log.suspicious() || options_.accept_loss;
    newly_lost_ = log.newly_lost();
  }

  /// Nothing can be mended while another program has it open, but what is lost is not to be found
  /// out only when that is closed: closing it removes the log.
  void read_log_in_use() {
    std::optional<WritersKeptOut> others;
    try {
      others.emplace(path_);
    } catch (const StoreError& error) {
      start_up_.wal_unread =
          fmt::format("another program has the database open, and keeps it: {}", error.what());
      return heed_loss_note();
    }
    read_log(nullptr);
  }

  /// What was found before holds.
  void heed_loss_note() {
    auto note = LossNote::read(opened_.files);
    if (!note || options_.accept_loss) return;
    start_up_.level = RunLevel::read_only;
    start_up_.reason = note->reason;
    start_up_.losses = note->losses;
  }

  /// There is no file: whoever removed it wants a new one.
  void forget_predecessor() {
    fs::remove(opened_.files.made());
    CommitMark::forget(opened_.files);
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

  /// The database as the commits that can be read left it; nothing if that is no store any more, or
  /// if nothing is missing.
  std::unique_ptr<Connection> what_is_left() const {
    if (!newly_lost_ && start_up_.level == RunLevel::normal) return {};
    try {
      return open_read_only(path_, settings_.durability);
    } catch (const StoreUnusable&) {
      return {};  // which whoever opens it next is told
    }
  }

  /// While it is there to be read: a checkpoint forgets it.
  void name_lost_tasks(Connection* left) {
    if (!newly_lost_) return;
    for (auto& loss : lost_tasks(path_, left)) start_up_.losses.push_back(std::move(loss));
    auto note = LossNote::read(opened_.files);
    if (!note) return;
    note->losses = start_up_.losses;
    note->write(opened_.files);
  }

  void connect_or_mend() {
    try {
      connect();
    } catch (const StoreUnusable& error) {
      if (new_ || not_damage_) throw;
      start_up_.integrity.passed = false;
      start_up_.integrity.completed = true;  // there is nothing left to check
      start_up_.integrity.damage = {{Damage::Kind::file, error.what()}};
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
    mended_ = true;
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
    create_database(path_, options_.files_for);
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
    if (!has_schema(db)) return refuse_without_schema();
    not_damage_ = noted_version(db) != schema_version;
    version_ = known_version(db, path_);
    not_damage_ = false;
    look_for_mark(db);
  }

  void look_for_mark(Connection& db) {
    auto mark = db.use("SELECT value FROM holdfast_meta WHERE key = 'open'");
    start_up_.unclean = mark.step();
    start_up_.rebooted = start_up_.unclean && mark.text(0) != boot_;
  }

  /// Everything that a store has ever done may be in its log, and somebody may have removed that.
  void refuse_without_schema() {
    if (new_ || options_.accept_loss || !fs::exists(opened_.files.made())) return;
    not_damage_ = true;
    throw StoreUnusable{
        fmt::format("there was a store in {}, and nothing of it is left: its write-ahead log with "
                    "everything in it is gone. Put the log or a backup ('holdfast restore') back, "
                    "or begin anew without it by 'holdfast doctor --accept-loss'",
                    path_)};
  }

  void check() {
    if (mended_) return;  // by way of a full check
    bool asked = settings_.recovery.integrity_check_on_startup && options_.stay != Stay::brief;
    if (new_ || !(asked || suspicious_)) return;
    start_up_.integrity =
        check_integrity(*opened_.connection, {.full = suspicious_, .within = check_limit});
    checked_ = true;
    const auto& found = start_up_.integrity;
    if (!found.passed) return mend(found.damage.front().what);
    if (found.completed) fs::remove(opened_.files.suspect());
  }

  void prepare_upgrade() {
    if (version_ == schema_version) return;
    try {
      back_up_for_upgrade(path_, version_, clock_.wall());
      opened_.upgrade_from = version_;
    } catch (const StoreReadOnly& error) {
      start_up_.level = RunLevel::read_only;
      start_up_.reason = error.what();
      opened_.connection.reset();
    } catch (const StoreUnusable& error) {
      if (mended_) throw;
      mend(error.what());  // a store that was rebuilt is of this version
      prepare_upgrade();
    }
  }

  /// So that the next start has little to read, and what was lost is not found again.
  void shorten_log() {
    if (options_.stay == Stay::brief && !options_.accept_loss) return;
    kill_point(KillPoint::start_up_before_checkpoint);
    auto* db = opened_.connection->handle();
    int code = in_use_ ? SQLITE_BUSY : checkpoint_and_truncate(db, checkpoint_patience);
    sqlite3_busy_timeout(db, busy_patience_ms);
    kill_point(KillPoint::start_up_after_checkpoint);
    // A log that cannot be copied now is copied later. But after a failed sync, later may only seem
    // to work.
    if (is_storage_failure(db, code))
      throw_sqlite_error(db, code, "copying the write-ahead log into it");
    if (options_.accept_loss) LossNote::forget(opened_.files);
    if (code == SQLITE_OK || options_.accept_loss) CommitMark::forget(opened_.files);
    if (code == SQLITE_OK) {
      start_up_.wal_frames_checkpointed = start_up_.wal_frames;
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
  Millis began_;
  int version_ = schema_version;  ///< of the tables, if there are any
  bool not_damage_ = false;       ///< such as a later version: nothing to mend
  bool mended_ = false;
  bool checked_ = false;
  bool newly_lost_ = false;
  bool in_use_ = false;  ///< by programs that know nothing of us
  StartUp start_up_{};
};

Opened open_unchangeable(const std::string& path, std::string reason, Durability durability) {
  Opened opened{.files = SideFiles::named(path), .level = RunLevel::read_only};
  const auto lost = loss_in_log(path, durability);
  if (!lost.empty())
    reason += fmt::format("; and {}: what is shown is older than what there was", lost);
  opened.trouble = trouble_of(reason);
  if (!lost.empty()) opened.trouble->losses.push_back({Damage::Kind::wal, lost});
  opened.reason = std::move(reason);
  return opened;
}

}  // namespace

Patience patience_of(Stay stay) {
  if (stay == Stay::lasting) return {};
  return brief_patience;
}

Opened open_database(const std::string& path, const Settings& settings, const Clock& clock,
                     const OpenOptions& options) {
  expect_readable_file(path);
  if (auto why = why_not_ours_to_change(path))
    return open_unchangeable(path, *why, settings.durability);
  refuse_planted_database(path, options.files_for);
  refuse_other_files(path);
  Opened opened{.files = SideFiles::named(path)};
  try {
    opened.files = SideFiles{path, options.files_for};
    opened.lock = std::make_unique<OpenLock>(opened.files, patience_of(options.stay));
  } catch (const StoreReadOnly& error) {
    if (!fs::exists(path)) throw;
    return open_unchangeable(path, error.what(), settings.durability);
  }
  if (opened.lock->alone()) {
    finish_replacement(path, opened.files);
    refuse_second_name(path);
    Ladder{path, settings, clock, options, opened}.climb();
    if (opened.level == RunLevel::normal && opened.connection) return opened;
    opened.lock->ready();
  } else {
    join(path, settings, options.stay, opened);
  }
  return opened;
}

}  // namespace holdfast::sqlite
