#include "engines/sqlite/scrub.hpp"

#include <chrono>
#include <limits>

#include <fmt/format.h>

#include "engines/sqlite/check_integrity.hpp"
#include "engines/sqlite/row_sum.hpp"

namespace holdfast::sqlite {

namespace {

constexpr int rows_at_once = 500;
/// Long payloads make fewer rows.
constexpr std::chrono::milliseconds long_enough{20};
constexpr Millis between_passes = std::chrono::hours{24};
constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

/// Each finds rows that should be in an index and are not.
constexpr std::pair<const char*, std::string_view> indexes[] = {
    {"the index of ids",
     "SELECT t.id FROM holdfast_tasks t NOT INDEXED WHERE t.seq BETWEEN ? AND ? AND NOT EXISTS"
     " (SELECT 1 FROM holdfast_tasks i INDEXED BY sqlite_autoindex_holdfast_tasks_1"
     "  WHERE i.id = t.id AND i.seq = t.seq)"},
    {"holdfast_ready",
     "SELECT t.id FROM holdfast_tasks t NOT INDEXED WHERE t.seq BETWEEN ? AND ? AND t.state = "
     "{pending}"
     " AND NOT EXISTS (SELECT 1 FROM holdfast_tasks i INDEXED BY holdfast_ready WHERE i.state = "
     "{pending}"
     "  AND i.priority = t.priority AND i.lane = t.lane AND i.suspect = t.suspect"
     "  AND i.run_at = t.run_at AND i.seq = t.seq)"},
    {"holdfast_running",
     "SELECT t.id FROM holdfast_tasks t NOT INDEXED WHERE t.seq BETWEEN ? AND ? AND t.state = "
     "{running}"
     " AND NOT EXISTS (SELECT 1 FROM holdfast_tasks i INDEXED BY holdfast_running WHERE i.state = "
     "{running}"
     "  AND i.owner IS t.owner AND i.seq = t.seq)"},
    {"holdfast_finished",
     "SELECT t.id FROM holdfast_tasks t NOT INDEXED WHERE t.seq BETWEEN ? AND ?"
     " AND t.state BETWEEN {completed} AND {cancelled} AND NOT EXISTS"
     " (SELECT 1 FROM holdfast_tasks i INDEXED BY holdfast_finished WHERE i.state BETWEEN "
     "{completed} AND {cancelled}"
     "  AND i.state = t.state AND i.finished_at IS t.finished_at AND i.seq = t.seq)"},
    {"holdfast_waiting",
     "SELECT t.id FROM holdfast_tasks t NOT INDEXED WHERE t.seq BETWEEN ? AND ?"
     " AND t.state IN ({blocked}, {held}) AND NOT EXISTS"
     " (SELECT 1 FROM holdfast_tasks i INDEXED BY holdfast_waiting WHERE i.state IN ({blocked}, "
     "{held})"
     "  AND i.state = t.state AND i.seq = t.seq)"},
    {"holdfast_unique",
     "SELECT t.id FROM holdfast_tasks t NOT INDEXED WHERE t.seq BETWEEN ? AND ?"
     " AND t.unique_key IS NOT NULL AND t.state IN {unfinished} AND NOT EXISTS"
     " (SELECT 1 FROM holdfast_tasks i INDEXED BY holdfast_unique WHERE i.unique_key IS NOT NULL"
     "  AND i.state IN {unfinished} AND i.unique_key = t.unique_key AND i.seq = t.seq)"},
};

}  // namespace

bool Scrub::is_due() {
  if (store_.clock.steady() < next_pass_ || !store_.open_lock) return false;
  if (!ours_) ours_ = store_.open_lock->try_to_be_scrubber();
  if (ours_ && behind_ == 0) {
    result_ = {};
    began_ = store_.clock.steady();
  }
  return ours_;
}

std::optional<IntegrityResult> Scrub::step() {
  std::lock_guard lock{mutex_};
  if (!is_due()) return {};
  try {
    store_.reader.read([&](Connection& db) { look(db); });
  } catch (const StoreUnusable& error) {
    result_.damage.push_back({Damage::Kind::file, error.what()});
    behind_ = all;
  }
  result_.completed = behind_ == all;
  if (result_.damage.empty() && !result_.completed) return {};
  if (!result_.damage.empty()) {
    result_.passed = false;
    note_suspicion(store_.files, result_.damage.front().what);
  }
  result_.duration = store_.clock.steady() - began_;
  result_.advice = advice_for(result_.damage);
  if (result_.completed) {
    behind_ = 0;
    next_pass_ = store_.clock.steady() + between_passes;
  }
  // Damage is told at once; what lies behind it is looked at all the same, and told when found.
  auto told = result_;
  result_.damage.clear();
  return told;
}

void Scrub::look(Connection& db) {
  auto began = std::chrono::steady_clock::now();
  auto from = behind_ + 1;
  int rows = 0;
  {
    auto tasks = db.use("SELECT " HOLDFAST_CHECKED
                        " FROM holdfast_tasks NOT INDEXED WHERE seq >= ? ORDER BY seq LIMIT ?");
    tasks.bind(from, rows_at_once);
    while (std::chrono::steady_clock::now() - began < long_enough && tasks.step()) {
      auto row = read_checked(tasks);
      ++rows;
      behind_ = row.seq;
      if (row.damage && !row.known)
        result_.damage.push_back({Damage::Kind::row, row.damage->what, row.damage->id});
    }
  }
  result_.rows_checked += rows;
  if (rows > 0) return look_in_indexes(db, from, behind_);
  find_damaged_blocks(db, [&](Damage damage) { result_.damage.push_back(std::move(damage)); });
  behind_ = all;
}

void Scrub::look_in_indexes(Connection& db, std::int64_t from, std::int64_t to) {
  for (const auto& [name, sql] : indexes) {
    auto missing = db.use(sql);
    missing.bind(from, to);
    while (missing.step())
      result_.damage.push_back(
          {Damage::Kind::index,
           fmt::format("task {} is missing from {}", missing.task_id(0).text(), name),
           missing.task_id(0)});
  }
}

}  // namespace holdfast::sqlite
