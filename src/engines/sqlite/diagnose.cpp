#include "engines/sqlite/diagnose.hpp"

#include <poll.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "engines/sqlite/check_integrity.hpp"
#include "engines/sqlite/database_file.hpp"
#include "engines/sqlite/disk.hpp"
#include "engines/sqlite/engine.hpp"
#include "engines/sqlite/evidence.hpp"
#include "engines/sqlite/file_system.hpp"
#include "engines/sqlite/open_read_only.hpp"
#include "engines/sqlite/processes.hpp"
#include "engines/sqlite/store_path.hpp"
#include "engines/sqlite/upgrade.hpp"

namespace holdfast::sqlite {

namespace {

namespace fs = std::filesystem;

/// Commits are shorter than this, unless something is wrong.
constexpr Millis watching_the_writer{600};
constexpr Millis between_looks{20};
/// Quick enough for a person who waits.
constexpr Millis quick_check_limit{1'000};

std::int64_t size_of(const std::string& path) {
  std::error_code absent;
  auto bytes = fs::file_size(path, absent);
  return absent ? 0 : static_cast<std::int64_t>(bytes);
}

class Examination {
 public:
  Examination(const std::string& path, const DiagnosisOptions& options, Settings settings,
              FilesFor files_for, const Clock& clock)
      : path_{real_database(path)},
        options_{options},
        settings_{std::move(settings)},
        files_for_{files_for},
        clock_{clock},
        files_{SideFiles::named(path_)} {
    found_.store = "sqlite:" + path;
  }

  Diagnosis carry_out() {
    expect_readable_file(path_);
    look_at_files();
    look_at_processes();
    look_for_writer();
    if (auto keeper = OpenLock::doorkeeper(files_); keeper && *keeper > 0) {
      found_.reason = fmt::format("process {} is making the store ready", *keeper);
      add_stopped_advice(look_at_process(*keeper));
      return std::move(found_);
    }
    look_inside();
    found_.evidence = list_evidence(files_);
    return std::move(found_);
  }

 private:
  void look_at_files() {
    found_.database_bytes = size_of(path_);
    found_.wal_bytes = size_of(path_ + "-wal");
    auto disk = disk_of(fs::absolute(path_).parent_path());
    found_.disk_free = disk.free;
    found_.disk_reserve = disk.reserve();
    found_.file_system = unsuitable_file_system(path_);
    if (!found_.file_system.empty())
      advise(
          fmt::format("the store is on {}, where locks and shared memory cannot be relied upon; "
                      "move it to a local disk",
                      found_.file_system));
    if (disk.total > 0 && disk.free < disk.reserve())
      advise("the disk is almost full and new work is refused: free some space");
    auto folder = fs::absolute(path_).parent_path();
    const auto name = fs::path{path_}.filename().string();
    std::error_code unknown;
    for (const auto& entry : fs::directory_iterator{folder, unknown}) {
      const auto other = entry.path().filename().string();
      if (other.starts_with(name + ".damaged"))
        found_.kept_aside.push_back({entry.path(), size_of(entry.path())});
      if (other.starts_with(backup_name(name)) && other.find(".part-") == other.npos)
        found_.upgrade_backups.push_back({entry.path(), size_of(entry.path())});
    }
  }

  void look_at_processes() {
    found_.open_by = processes_with_open(files_.open_lock());
    for (auto& process : processes_with_open(path_)) {
      auto same = [&](const ProcessSighting& other) { return other.pid == process.pid; };
      if (std::ranges::none_of(found_.open_by, same)) found_.foreign.push_back(process);
    }
  }

  /// The same process at every look, all the time.
  void look_for_writer() {
    auto writer = [&] {
      auto ours = FairLock::holder(files_.write_lock());
      return ours ? ours : sqlite_writer(path_);
    };
    auto holder = writer();
    auto end = std::chrono::steady_clock::now() + watching_the_writer;
    while (holder && std::chrono::steady_clock::now() < end) {
      auto seen = look_at_process(*holder);
      if (seen && seen->stopped) break;
      ::poll(nullptr, 0, static_cast<int>(between_looks.count()));
      if (writer() != holder) return;
    }
    if (!holder) return;
    found_.writing = look_at_process(*holder).value_or(ProcessSighting{.pid = *holder});
    add_stopped_advice(found_.writing);
    if (!found_.writing->stopped)
      advise(
          fmt::format("process {} ({}) has been writing all the time, and everybody waits for it; "
                      "see what it does",
                      found_.writing->pid, found_.writing->command));
  }

  void add_stopped_advice(const std::optional<ProcessSighting>& process) {
    if (!process || !process->stopped) return;
    advise(
        fmt::format("process {} ({}) is stopped and keeps everybody waiting; let it go on with "
                    "'kill -CONT {}', or end it: what it had not finished is taken back",
                    process->pid, process->command, process->pid));
  }

  void look_inside() {
    try {
      auto engine = open_store(path_, settings_, clock_,
                               {.stay = Stay::brief,
                                .files_for = files_for_,
                                .accept_loss = options_.accept_loss,
                                .found = &found_.start_up});
      found_.level = engine->run_level();
      found_.reason = engine->why_read_only();
      check();
    } catch (const StoreUnusable& error) {
      found_.level = RunLevel::halted;
      found_.reason = error.what();
      if (found_.start_up && !found_.start_up->integrity.passed)
        found_.integrity = found_.start_up->integrity;
      advise(found_.reason);
    } catch (const StoreReadOnly& error) {
      found_.level = RunLevel::read_only;
      found_.reason = error.what();
    }
    if (found_.level == RunLevel::read_only) advise(found_.reason);
    if (found_.start_up) found_.wal_frames = found_.start_up->wal_frames;
  }

  void check() {
    auto db = open_read_only(path_, settings_.durability);
    auto mode = db->use("PRAGMA journal_mode");
    if (mode.step()) found_.journal_mode = mode.text(0);
    CheckLimits limits{.full = options_.full, .within = quick_check_limit};
    if (options_.full) limits.within.reset();
    found_.integrity = check_integrity(*db, limits);
    if (!found_.integrity->passed) {
      note_suspicion(files_, found_.integrity->damage.front().what);
      advise(found_.integrity->advice);
    }
  }

  void advise(std::string what) { found_.advice.push_back(std::move(what)); }

  std::string path_;
  const DiagnosisOptions& options_;
  Settings settings_;
  FilesFor files_for_;
  const Clock& clock_;
  SideFiles files_;
  Diagnosis found_{};
};

}  // namespace

Diagnosis diagnose(const std::string& path, const DiagnosisOptions& options, Settings settings,
                   FilesFor files_for, const Clock& clock) {
  return Examination{path, options, std::move(settings), files_for, clock}.carry_out();
}

}  // namespace holdfast::sqlite
