#include "simulation/history.hpp"

#include <sqlite3.h>
#include <stdlib.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include "engines/sqlite/engine.hpp"
#include "simulation/stage.hpp"

namespace holdfast::sim {

namespace {

/// For what the engine keeps beside the database, in memory where that is possible.
std::filesystem::path make_folder() {
  namespace fs = std::filesystem;
  auto base = fs::is_directory("/dev/shm") ? fs::path{"/dev/shm"} : fs::temp_directory_path();
  std::string pattern = base / "holdfast-simulation-XXXXXX";
  if (!::mkdtemp(pattern.data()))
    throw std::system_error{errno, std::generic_category(), "mkdtemp " + pattern};
  return pattern;
}

/// Makes the file, with small pages, because SQLite copies and sums whole pages and histories are
/// short.
void make_database(const std::string& path) {
  sqlite3* db = nullptr;
  int code = sqlite3_open(path.c_str(), &db);
  if (code == SQLITE_OK)
    code = sqlite3_exec(db, "PRAGMA page_size=1024; PRAGMA journal_mode=WAL", nullptr, nullptr,
                        nullptr);
  sqlite3_close(db);
  if (code != SQLITE_OK) throw std::runtime_error{"cannot make " + path};
}

}  // namespace

Histories::Histories() : folder_{make_folder()} {
  make_database(folder_ / "work.db");
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

Told Histories::tell(std::uint64_t seed, bool aloud) {
  clean_up();
  World world{seed, aloud, *engine_, clock_, *probe_, coverage_};
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
