#include "engines/sqlite/check_integrity.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <chrono>

#include <fmt/format.h>

#include "engines/sqlite/row_sum.hpp"
#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/shown_as_current.hpp"
#include "recovery/private_files.hpp"

namespace holdfast::sqlite {

namespace {

using Steady = std::chrono::steady_clock;

/// More would tell nobody more.
constexpr std::size_t enough_damage = 100;

/// Ends statements of a connection when the time is over or somebody wants to stop.
class TimeBox {
 public:
  TimeBox(sqlite3* db, const CheckLimits& limits) : db_{db}, stop_{limits.stop} {
    if (limits.within) deadline_ = Steady::now() + *limits.within;
    constexpr int steps_between_looks = 10'000;
    sqlite3_progress_handler(db_, steps_between_looks, &is_over, this);
  }
  ~TimeBox() { sqlite3_progress_handler(db_, 0, nullptr, nullptr); }
  TimeBox(const TimeBox&) = delete;
  TimeBox& operator=(const TimeBox&) = delete;

  bool over() const { return over_; }

 private:
  static int is_over(void* box) {
    auto& self = *static_cast<TimeBox*>(box);
    self.over_ = self.over_ || self.stop_.stop_requested() ||
                 (self.deadline_ && Steady::now() > *self.deadline_);
    return self.over_;
  }

  sqlite3* db_;
  std::stop_token stop_;
  std::optional<Steady::time_point> deadline_{};
  bool over_ = false;
};

Damage damage_of(const std::string& complaint) {
  bool index = complaint.find(" index ") != std::string::npos;
  return {index ? Damage::Kind::index : Damage::Kind::file, complaint};
}

class Check {
 public:
  Check(Connection& db, const CheckLimits& limits, IntegrityResult& result)
      : db_{db}, limits_{limits}, result_{result}, box_{db.handle(), limits} {}

  void run() {
    bool readable =
        step([&] { pages(limits_.full ? "PRAGMA integrity_check" : "PRAGMA quick_check"); });
    if (!readable) return;
    step([&] { schema(); });
    // Where a table is missing or has other columns, nobody can ask for what is in it.
    if (!has_schema(db_) || !schema_is_whole_) return;
    ShownAsCurrent current{db_};
    // First, because it is quick: the rest may take longer than there is time.
    step([&] {
      find_wrong_counts(db_, [&](std::string what) {
        found({Damage::Kind::index, std::move(what)});
      });
    });
    step([&] { rows(); });
    step([&] { find_damaged_blocks(db_, [&](Damage damage) { found(std::move(damage)); }); });
    if (limits_.full) step([&] { references(); });
  }

 private:
  /// False: it could not be carried out.
  template <class F>
  bool step(F&& work) {
    if (box_.over()) return false;
    try {
      work();
      return true;
    } catch (const StoreUnusable& error) {
      found({Damage::Kind::file, error.what()});
    } catch (const StoreError&) {
      if (!box_.over()) throw;
      result_.completed = false;
    }
    return false;
  }

  void found(Damage damage) {
    result_.passed = false;
    if (result_.damage.size() < enough_damage) result_.damage.push_back(std::move(damage));
  }

  void pages(const char* pragma) {
    auto query = db_.use(pragma);
    while (query.step()) {
      if (auto complaint = query.text(0); complaint != "ok") found(damage_of(complaint));
    }
  }

  void schema() {
    find_schema_damage(db_, [&](std::string what) {
      schema_is_whole_ = false;
      found({Damage::Kind::file, std::move(what)});
    });
    if (!schema_is_whole_ || !has_schema(db_)) return;
    const std::int64_t tables = version_of_tables(db_), noted = noted_version(db_);
    if (noted != tables)
      found(
          {Damage::Kind::file,
           fmt::format("The tables are of version {}, and are said to be of {}.", tables, noted)});
  }

  void rows() {
    result_.rows_checked = find_damaged_rows(db_, [&](DamagedRow row) {
      found({Damage::Kind::row, row.what, row.seq > 0 ? std::optional{row.id} : std::nullopt});
    });
  }

  /// What belongs to a task and has none.
  void references() {
    constexpr std::pair<const char*, const char*> parts[] = {
        {"wait for another task", "seq FROM holdfast_blocks"},
        {"are waited for", "on_seq FROM holdfast_blocks"},
        {"have a history", "task FROM holdfast_history"},
        {"have log lines", "task FROM holdfast_log"},
        {"have effects", "task FROM holdfast_effects"},
        {"are transactions", "task FROM holdfast_transactions"},
        {"have a ledger", "task FROM holdfast_ledger"},
        {"have messages to send", "task FROM holdfast_outbox"},
        {"have progress", "task FROM holdfast_progress"}};
    for (auto [what, part] : parts) {
      Connection::Once query{
          db_, fmt::format("SELECT count(*) FROM (SELECT {} EXCEPT SELECT seq FROM holdfast_tasks)",
                           part)};
      query->step();
      auto missing = query->integer(0);
      if (missing > 0)
        found({Damage::Kind::lost, fmt::format("{} tasks that {} are not there", missing, what)});
    }
  }

  Connection& db_;
  const CheckLimits& limits_;
  IntegrityResult& result_;
  TimeBox box_;
  bool schema_is_whole_ = true;
};

}  // namespace

IntegrityResult check_integrity(Connection& db, const CheckLimits& limits) {
  IntegrityResult result{.full = limits.full};
  auto began = Steady::now();
  Check{db, limits, result}.run();
  result.duration = std::chrono::duration_cast<Millis>(Steady::now() - began);
  result.advice = advice_for(result.damage);
  return result;
}

void find_damaged_blocks(Connection& db, const std::function<void(Damage)>& tell) {
  constexpr const char* sides[] = {"holdfast_blocks INDEXED BY sqlite_autoindex_holdfast_blocks_1",
                                   "holdfast_blocks INDEXED BY holdfast_blocked_by"};
  for (bool forth : {true, false}) {
    Connection::Once query{db, fmt::format("SELECT count(*) FROM (SELECT on_seq, seq FROM {} EXCEPT"
                                           " SELECT on_seq, seq FROM {})",
                                           sides[forth ? 0 : 1], sides[forth ? 1 : 0])};
    query->step();
    if (auto count = query->integer(0); count > 0)
      tell({Damage::Kind::index, fmt::format("{} dependencies are {} the index holdfast_blocked_by",
                                             count, forth ? "missing from" : "only in")});
  }
}

std::string advice_for(const std::vector<Damage>& damage) {
  if (damage.empty()) return {};
  return "stop everything that uses the store, copy its files, and start it again: the start-up "
         "repairs what can be repaired and says what is lost. If that is too much, put a backup in "
         "its "
         "place with 'holdfast restore FILE'";
}

void note_suspicion(const SideFiles& files, const std::string& why) {
  auto file = try_open_private(files.suspect(), O_WRONLY | O_CREAT | O_TRUNC);
  auto line = why + "\n";
  // That it is there is what counts.
  [[maybe_unused]] auto written = ::write(file.get(), line.data(), line.size());
}

}  // namespace holdfast::sqlite
