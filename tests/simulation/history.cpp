#include "simulation/history.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdarg>
#include <system_error>

#include "engines/sqlite/engine.hpp"
#include "simulation/stage.hpp"

namespace holdfast::sim {

namespace {

/// In memory where that is possible: what a disk keeps is not the question here.
std::filesystem::path make_folder() {
  namespace fs = std::filesystem;
  auto base = fs::is_directory("/dev/shm") ? fs::path{"/dev/shm"} : fs::temp_directory_path();
  std::string pattern = base / "holdfast-simulation-XXXXXX";
  if (!::mkdtemp(pattern.data()))
    throw std::system_error{errno, std::generic_category(), "mkdtemp " + pattern};
  return pattern;
}

/// SQLite's file locks, without asking the kernel: they keep other processes out, and there are
/// none. Between the connections of one process SQLite keeps its locks in memory anyway. This makes
/// histories cheaper; the locks of the engine itself are left as they are.
int lock_nothing(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  if (command == F_SETLK || command == F_SETLKW) return 0;
  if (command != F_GETLK) return ::fcntl(fd, command, argument);
  static_cast<struct flock*>(argument)->l_type = F_UNLCK;
  return 0;
}

void leave_out_sqlite_locks() {
  auto* files = sqlite3_vfs_find(nullptr);
  files->xSetSystemCall(files, "fcntl", reinterpret_cast<sqlite3_syscall_ptr>(lock_nothing));
}

}  // namespace

Histories::Histories() : folder_{make_folder()} {
  leave_out_sqlite_locks();
  Settings settings;
  settings.durability = Durability::crash_safe;
  engine_ = sqlite::open_store(folder_ / "work.db", settings, clock_);
  probe_ = std::make_unique<Probe>(folder_ / "work.db");
}

Histories::~Histories() {
  probe_.reset();
  engine_.reset();
  std::error_code ignored;  // a leftover in memory is not worth a failing test
  std::filesystem::remove_all(folder_, ignored);
}

Told Histories::tell(std::uint64_t seed) {
  clean_up();
  World world{seed, *engine_, clock_, *probe_, coverage_};
  Stage stage{world};
  stage.play();
  return {seed, world.trace.hash(), world.trace.text(), world.ledger.findings()};
}

void Histories::clean_up() {
  probe_->wipe();
  clock_.reset();
  namespace fs = std::filesystem;
  for (const auto& file : fs::directory_iterator{folder_ / "work.db.holdfast" / "workers"})
    fs::remove(file);
}

}  // namespace holdfast::sim
