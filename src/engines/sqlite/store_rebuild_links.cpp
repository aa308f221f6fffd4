#include <algorithm>
#include <iterator>
#include <unordered_set>

#include <fmt/format.h>

#include "engines/sqlite/row_sum.hpp"
#include "engines/sqlite/schedules.hpp"
#include "engines/sqlite/store_rebuild.hpp"
#include "recovery/actors.hpp"

/// What ties tasks to each other and to their names, once all rows are in the new file.
namespace holdfast::sqlite {

namespace {

std::vector<std::int64_t> numbers(Connection& db, std::string_view sql) {
  std::vector<std::int64_t> found;
  auto query = db.use(sql);
  while (query.step()) found.push_back(query.integer(0));
  return found;
}

}  // namespace

/// A lane whose row is gone comes back from its index, if its names can be believed; otherwise its
/// tasks must not run, because nobody knows what they are.
void StoreRebuild::settle_lanes() {
  old_.each_entry("sqlite_autoindex_holdfast_lanes_1", [&](const Record& entry) {
    if (entry.size() != 4) return;
    auto queue = std::get_if<std::string>(&entry[0]);
    auto kind = std::get_if<std::string>(&entry[1]);
    auto key = std::get_if<std::string>(&entry[2]);
    auto lane = std::get_if<std::int64_t>(&entry[3]);
    if (!queue || !kind || !key || !lane) return;
    auto add =
        db_.use("INSERT INTO holdfast_lanes (lane, queue, kind, key, sum) VALUES (?, ?, ?, ?, ?)");
    if (add.bind(*lane, *queue, *kind, *key, lane_sum(*queue, *kind, *key)).run_if_allowed())
      doubtful_lanes_.insert(*lane);
  });
  auto missing = numbers(db_,
                         "SELECT DISTINCT lane FROM holdfast_tasks"
                         " WHERE lane NOT IN (SELECT lane FROM holdfast_lanes)");
  for (auto lane : missing) {
    auto kind = fmt::format("unknown-{}", lane);
    db_.use(
           "INSERT INTO holdfast_lanes (lane, queue, kind, key, sum)"
           " VALUES (?, 'damaged', ?, '', ?)")
        .bind(lane, kind, lane_sum("damaged", kind))
        .run();
    doubtful_lanes_.insert(lane);
  }
  for (auto lane : doubtful_lanes_) {
    auto query =
        db_.use("SELECT seq FROM holdfast_tasks WHERE lane = ? AND state NOT BETWEEN 2 AND 4");
    std::vector<std::int64_t> tasks;
    for (query.bind(lane); query.step();) tasks.push_back(query.integer(0));
    for (auto seq : tasks)
      hold(seq, "The name of its queue or of its kind was damaged on disk, and may be wrong.");
  }
}

/// Which queues are paused cannot be read: rather all than one too few.
void StoreRebuild::pause_all() {
  db_.use(
         "INSERT OR IGNORE INTO holdfast_paused (queue, actor, at)"
         " SELECT DISTINCT queue, ?, ? FROM holdfast_lanes")
      .bind(actors::repair, now_)
      .run();
  rebuilt_.losses.push_back(
      {Damage::Kind::file,
       "Which queues were paused could not be read: all are paused now. Resume those that were "
       "not, with 'holdfast queue resume'."});
}

/// What was not copied as it was written must not fire, and a limit that is gone holds nothing
/// back: a person must know of both.
void StoreRebuild::settle_schedules(bool schedules_are_whole, bool limits_are_whole) {
  auto note = [&](std::string what) {
    rebuilt_.losses.push_back({Damage::Kind::file, std::move(what)});
  };
  for (const auto& name : drop_damaged_schedules(db_))
    note(fmt::format("Schedule '{}' was damaged on disk and is gone: add it again.", name));
  if (!schedules_are_whole)
    note("Schedules may be lost: compare with 'holdfast schedule list', and add what is missing.");
  if (!limits_are_whole)
    note("Limits may be lost: compare with 'holdfast limit list', and set what is missing.");
}

/// What waits for what is there twice, as a table and as an index, and has no checksum: the two
/// must agree, or what the pair is about is held.
void StoreRebuild::settle_blocks(bool table_is_whole) {
  Pairs table, index;
  {
    auto query = db_.use("SELECT on_seq, seq FROM holdfast_blocks");
    while (query.step()) table.emplace(query.integer(0), query.integer(1));
  }
  bool index_is_whole = old_.each_entry("holdfast_blocked_by", [&](const Record& entry) {
    auto seq = entry.empty() ? nullptr : std::get_if<std::int64_t>(&entry[0]);
    auto on = entry.size() != 2 ? nullptr : std::get_if<std::int64_t>(&entry[1]);
    if (seq && on) index.emplace(*on, *seq);
  });
  Pairs odd;
  std::ranges::set_symmetric_difference(table, index, std::inserter(odd, odd.end()));
  for (const auto& [on, seq] : odd) {
    db_.use("INSERT OR IGNORE INTO holdfast_blocks (on_seq, seq) VALUES (?, ?)")
        .bind(on, seq)
        .run();
    bool known = (table_is_whole && !index_is_whole && table.contains({on, seq})) ||
                 (index_is_whole && !table_is_whole && index.contains({on, seq}));
    if (!known) hold(seq, "The disk was damaged where it says what this task waits for.");
  }
  db_.execute("DELETE FROM holdfast_blocks WHERE seq NOT IN (SELECT seq FROM holdfast_tasks)");
  std::string_view bereft =
      "SELECT seq FROM holdfast_tasks t WHERE state = {blocked} AND (NOT EXISTS (SELECT 1 FROM"
      " holdfast_blocks b WHERE b.seq = t.seq) OR EXISTS (SELECT 1 FROM holdfast_blocks b"
      " WHERE b.seq = t.seq AND b.on_seq NOT IN (SELECT seq FROM holdfast_tasks)))";
  for (auto seq : numbers(db_, bereft))
    hold(seq, "The disk was damaged, and a task that it waits for is lost.");
  db_.execute("DELETE FROM holdfast_blocks WHERE on_seq NOT IN (SELECT seq FROM holdfast_tasks)");
  if (table_is_whole || index_is_whole) return;
  for (auto seq : numbers(db_, "SELECT seq FROM holdfast_tasks WHERE state = {blocked}"))
    hold(seq, "The disk was damaged where it says what this task waits for.");
}

/// It stays as it is, and so does its sum: the next claim of the task sees that too.
void StoreRebuild::hold_damaged_transactions() {
  for (auto seq : numbers(db_,
                          "SELECT task FROM holdfast_transactions JOIN holdfast_tasks ON seq = task"
                          " WHERE holdfast_tasks.state IN ({pending}, {running}, {blocked})"))
    if (!transaction_fits(db_, seq)) hold(seq, "What it goes on with was damaged on disk.");
}

/// Tasks that an index or a history knows, and that no row was found for.
void StoreRebuild::name_the_lost(bool tasks_are_whole) {
  std::unordered_set<std::int64_t> named;
  for (const auto& [id, seq] : indexed_) {
    auto find = db_.use("SELECT 1 FROM holdfast_tasks WHERE seq = ? OR id = ?");
    if (find.bind(seq, id).step() || !named.insert(seq).second) continue;
    lost(fmt::format("Task {} is lost: the disk was damaged where it was.", id.text()), id);
  }
  bool index_is_whole = old_.each_entry("sqlite_autoindex_holdfast_tasks_1", [](const Record&) {});
  if (!tasks_are_whole && !index_is_whole) {
    auto missing = db_.number(
        "SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'holdfast_tasks')"
        " - (SELECT count(*) FROM holdfast_tasks)");
    lost(fmt::format(
        "More tasks may be lost than can be named, because the index of ids is damaged as well: at "
        "most {}, and less by those that retention removed.",
        std::max<std::int64_t>(missing - std::ssize(named), 0)));
  }
  std::string_view orphaned =
      "SELECT DISTINCT task FROM holdfast_history WHERE task NOT IN"
      " (SELECT seq FROM holdfast_tasks)";
  for (auto seq : numbers(db_, orphaned)) {
    if (named.contains(seq)) continue;
    lost(fmt::format("A task (number {}) of which only the history is left is lost.", seq));
  }
  for (const char* table :
       {"history", "log", "effects", "progress", "transactions", "moves", "ledger", "outbox"})
    db_.execute(fmt::format(
        "DELETE FROM holdfast_{} WHERE task NOT IN (SELECT seq FROM holdfast_tasks)", table));
}

/// What a task did and recorded it must not do again.
void StoreRebuild::hold_what_forgot_its_effects() {
  std::string_view begun =
      "SELECT seq FROM holdfast_tasks WHERE state IN ({pending}, {running}, {blocked}) AND token > "
      "0";
  for (auto seq : numbers(db_, begun))
    hold(seq, "The disk was damaged where it says what earlier attempts have done already.");
}

/// What is no task: nothing runs wrong without it, but people may look for it.
void StoreRebuild::name_what_else_is_lost(const std::set<std::string>& damaged) {
  constexpr std::pair<std::string_view, std::string_view> parts[] = {
      {"holdfast_meta", "When the store was made and what it has counted"},
      {"holdfast_history", "The history of some tasks"},
      {"holdfast_log", "Log lines of some tasks"},
      {"holdfast_effects", "Effects that some tasks recorded"},
      {"holdfast_progress", "The progress of some tasks"},
      {"holdfast_transactions", "The state of some transactions"},
      {"holdfast_moves", "The history of some transactions"},
      {"holdfast_ledger", "Ledgers of some transactions"},
      {"holdfast_outbox", "Messages that some transactions were to send"},
      {"holdfast_queues", "Queues of messages"},
      {"holdfast_messages", "Messages"},
      {"holdfast_workers", "Some workers"},
      {"holdfast_metrics", "How the store was at some times"},
      {"holdfast_buckets", "What was left of some rate limits"},
      {"holdfast_reports", "Reports of earlier recoveries"},
      {"holdfast_report_tasks", "Tasks in reports of earlier recoveries"},
      {"holdfast_report_workers", "Dead workers in reports of earlier recoveries"}};
  auto note = [&](std::string what) {
    rebuilt_.losses.push_back({Damage::Kind::file, std::move(what)});
  };
  for (auto [table, what] : parts)
    if (damaged.contains(std::string{table}))
      note(fmt::format("{} may be lost: pages of {} could not be read.", what, table));
  for (const auto& [table, rows] : unreadable_)
    if (table != "holdfast_tasks")
      note(fmt::format("{} row{} of {} could not be read.", rows, rows == 1 ? "" : "s", table));
}

}  // namespace holdfast::sqlite
