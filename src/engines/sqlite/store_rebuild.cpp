#include "engines/sqlite/store_rebuild.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "engines/sqlite/bind_record.hpp"
#include "engines/sqlite/hold_task.hpp"
#include "engines/sqlite/record_mend.hpp"
#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/store.hpp"
#include "engines/sqlite/task_change.hpp"
#include "recovery/actors.hpp"

namespace holdfast::sqlite {

namespace {

using Found = PageSalvage::Found;

constexpr std::int64_t out_of_reason = 1'000'000;

std::string insert_text(const TableShape& table) {
  std::string places;
  for (std::size_t i = 0; i < table.columns().size(); ++i) places += i ? ", ?" : "?";
  return fmt::format("INSERT INTO {} VALUES ({})", table.name(), places);
}

}  // namespace

StoreRebuild::StoreRebuild(const PageFile& old, Connection& db, WallTime now)
    : old_{old}, db_{db}, now_{now}, tables_{our_tables(db)} {}

Rebuilt StoreRebuild::run() {
  auto tasks = std::ranges::find(tables_, "holdfast_tasks", &TableShape::name);
  indexed_ = old_.indexed_tasks();
  TaskRescue rescue{*tasks, TaskRescue::Witnesses{old_}, now_};
  auto damaged = old_.each_row(tables_, [&](const PageSalvage::Row& row) { take(rescue, row); });
  damaged.erase("holdfast_counts");  // made anew
  inserts_.clear();
  rebuilt_.whole = damaged.empty() && unreadable_.empty();
  auto partly = [&](const char* table) {
    return damaged.contains(table) || unreadable_.contains(table);
  };
  settle_lanes();
  settle_blocks(!partly("holdfast_blocks"));
  hold_damaged_transactions();
  if (partly("holdfast_paused")) pause_all();
  settle_schedules(!partly("holdfast_schedules"), !partly("holdfast_limits"));
  take_number_of_last_task();
  name_the_lost(!partly("holdfast_tasks"));
  if (partly("holdfast_effects")) hold_what_forgot_its_effects();
  name_what_else_is_lost(damaged);
  complete_meta();
  db_.counts().forget();
  recount(db_);
  return std::move(rebuilt_);
}

void StoreRebuild::take(const TaskRescue& rescue, const PageSalvage::Row& row) {
  if (row.table.name() == "holdfast_tasks") return take_task(rescue, row);
  if (row.table.name() == "holdfast_lanes") return take_lane(row);
  if (row.table.name() == "holdfast_transactions") return take_transaction(row);
  if (row.table.name() == "holdfast_counts") return;
  auto record = row.table.read(row.record);
  if (!record || !row.table.fits(*record)) {
    ++unreadable_[row.table.name()];
    return;
  }
  insert(row.table, row.rowid, *record);
}

bool StoreRebuild::insert(const TableShape& table, std::int64_t rowid, const Record& record) {
  auto& statement = inserts_[table.name()];
  if (!statement) statement = std::make_unique<Connection::Once>(db_, insert_text(table));
  bind_record(**statement, 1, table, rowid, record);
  return (*statement)->run_if_allowed();
}

void StoreRebuild::take_task(const TaskRescue& rescue, const PageSalvage::Row& row) {
  auto task = rescue.rescue(row);
  if (!task) {
    ++unreadable_[row.table.name()];
    return;
  }
  if (!insert(row.table, task->seq, task->record)) {
    if (db_.use("SELECT 1 FROM holdfast_tasks WHERE seq = ?").bind(task->seq).step()) return;
    // Another unfinished task has its key, which cannot be: one of the two is not what it was.
    task = rescue.hold(task->seq, task->record,
                       "Its row was damaged on disk, and so was its unique key.");
    task->record[row.table.place_of("unique_key")] = std::monostate{};
    task = rescue.hold(task->seq, task->record,
                       "Its row was damaged on disk, and so was its unique key.");
    if (!insert(row.table, task->seq, task->record)) {
      ++unreadable_[row.table.name()];
      return;
    }
  }
  if (auto odd = rescue.contradiction(task->seq, task->record)) {
    rebuilt_.losses.push_back({Damage::Kind::row, odd->what, task->id});
    if (odd->other != task->id)
      rebuilt_.losses.push_back({Damage::Kind::row, odd->what, odd->other});
  }
  if (task->fate == RescuedTask::Fate::mended)
    rebuilt_.mended.push_back({Damage::Kind::row, task->what, task->id});
  if (task->fate != RescuedTask::Fate::held) return;
  rebuilt_.losses.push_back({Damage::Kind::row, task->what, task->id});
  add_history(
      db_, task->seq,
      {{task->from, TaskState::held, std::string{actors::repair}, task->what, {}, 0, now_}});
}

void StoreRebuild::take_lane(const PageSalvage::Row& row) {
  auto fits = [&](const Record& record) {
    if (!row.table.fits(record)) return false;
    return integer(record[row.table.place_of("sum")]) ==
           lane_sum(std::get<std::string>(record[row.table.place_of("queue")]),
                    std::get<std::string>(record[row.table.place_of("kind")]),
                    std::get<std::string>(record[row.table.place_of("key")]));
  };
  auto record = row.table.read(row.record);
  if (record && !fits(*record)) {
    auto mended = mend_record(row.record, row.table, fits);
    if (mended)
      rebuilt_.mended.push_back(
          {Damage::Kind::row, fmt::format("The names of lane {} were put right.", row.rowid)});
    record = std::move(mended);
  }
  // What cannot be mended comes from the index, or is given a name that nobody has.
  if (record && fits(*record)) insert(row.table, row.rowid, *record);
}

void StoreRebuild::take_transaction(const PageSalvage::Row& row) {
  auto fits = [&](const Record& record) {
    return row.table.fits(record) && transaction_fits(row.table, row.rowid, record);
  };
  // Without a sum nothing proves which bit it was.
  auto proven = [&](const Record& record) {
    return fits(record) && integer(record[row.table.place_of("sum")]) != 0;
  };
  auto record = row.table.read(row.record);
  if (!record || !fits(*record))
    if (auto mended = mend_record(row.record, row.table, proven)) {
      rebuilt_.mended.push_back(
          {Damage::Kind::row, fmt::format("The row of transaction {} was put right.", row.rowid)});
      record = std::move(mended);
    }
  if (record && row.table.fits(*record)) {
    insert(row.table, row.rowid, *record);
  } else {
    ++unreadable_[row.table.name()];
  }
}

void StoreRebuild::take_number_of_last_task() {
  std::int64_t last = db_.number("SELECT coalesce(max(seq), 0) FROM holdfast_tasks");
  for (const auto& [id, seq] : indexed_)
    // A number that is out of all reason is damage, not a task.
    if (seq < last + out_of_reason) last = std::max(last, seq);
  // The newest tasks may be gone from the table and from the index.
  old_.each_row({TableShape{db_, "sqlite_sequence"}}, [&](const PageSalvage::Row& row) {
    auto record = decode_record(row.record);
    if (!record || record->size() != 2 || (*record)[0] != SqlValue{std::string{"holdfast_tasks"}})
      return;
    if (auto seq = integer((*record)[1]); seq < last + out_of_reason) last = std::max(last, seq);
  });
  db_.use("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'holdfast_tasks'")
      .bind(last)
      .run();
  if (db_.changes() == 0) {
    db_.use("INSERT INTO sqlite_sequence (name, seq) VALUES ('holdfast_tasks', ?)")
        .bind(last)
        .run();
  }
}

void StoreRebuild::complete_meta() {
  db_.use(
         "INSERT OR IGNORE INTO holdfast_meta (key, value) VALUES ('created_at', ?),"
         " ('store_epoch', 1), ('stale_writes_refused', 0)")
      .bind(now_)
      .run();
  db_.use("INSERT OR REPLACE INTO holdfast_meta (key, value) VALUES ('schema_version', ?)")
      .bind(schema_version)
      .run();
}

void StoreRebuild::hold(std::int64_t seq, const std::string& cause) {
  const auto id = hold_task(db_, seq, actors::repair, cause, now_);
  if (!id) return;
  rebuilt_.losses.push_back(
      {Damage::Kind::row, fmt::format("Task {} is held: {}", id->text(), cause), *id});
}

bool rows_and_indexes_agree(const PageFile& file, Connection& db) {
  PageSalvage salvage{file};
  std::vector<TableShape> tasks{TableShape{db, "holdfast_tasks"}};
  TaskRescue rescue{tasks.front(), TaskRescue::Witnesses{salvage}, {}};
  bool agree = true;
  salvage.each_row(tasks, [&](const PageSalvage::Row& row) {
    auto record = row.table.read(row.record);
    agree =
        agree && record && tasks.front().fits(*record) && !rescue.contradiction(row.rowid, *record);
  });
  return agree;
}

void StoreRebuild::lost(std::string what, std::optional<TaskId> task) {
  rebuilt_.losses.push_back({Damage::Kind::lost, std::move(what), task});
}

}  // namespace holdfast::sqlite
