#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/integrity.hpp>

#include "engines/sqlite/page_salvage.hpp"
#include "engines/sqlite/task_rescue.hpp"

namespace holdfast::sqlite {

/// What could be brought from a damaged file into a new one.
struct Rebuilt {
  bool whole = true;             ///< every page of our tables could be read
  std::vector<Damage> losses{};  ///< tasks that are lost, or held because something is wrong
  std::vector<Damage> mended{};  ///< what was damaged and is as it was
};

/// Fills the tables of ours in `db`, which are there and empty, from a damaged file. Uses indexes
/// only as witnesses: for what rows say, where they cannot be believed, and for rows that are gone.
class StoreRebuild {
 public:
  StoreRebuild(const PageFile& old, Connection& db, WallTime now);
  Rebuilt run();

 private:
  using Pairs = std::set<std::pair<std::int64_t, std::int64_t>>;

  void take(const TaskRescue& rescue, const PageSalvage::Row& row);
  void take_task(const TaskRescue& rescue, const PageSalvage::Row& row);
  void take_lane(const PageSalvage::Row& row);
  void take_transaction(const PageSalvage::Row& row);
  bool insert(const TableShape& table, std::int64_t rowid, const Record& record);
  void take_number_of_last_task();
  void settle_lanes();
  void pause_all();
  void settle_schedules(bool schedules_are_whole, bool limits_are_whole);
  void settle_blocks(bool table_is_whole);
  void hold_damaged_transactions();
  void name_the_lost(bool tasks_are_whole);
  void hold_what_forgot_its_effects();
  void name_what_else_is_lost(const std::set<std::string>& damaged);
  void complete_meta();
  void hold(std::int64_t seq, const std::string& cause);
  void lost(std::string what, std::optional<TaskId> task = {});

  PageSalvage old_;
  Connection& db_;
  WallTime now_;
  std::vector<TableShape> tables_;
  std::map<std::string, std::unique_ptr<Connection::Once>> inserts_;
  std::vector<std::pair<TaskId, std::int64_t>> indexed_;
  std::map<std::string, int> unreadable_;  ///< rows, by table
  std::set<std::int64_t> doubtful_lanes_;
  Rebuilt rebuilt_;
};

/// Whether rows of finished tasks and the indexes agree. Where they do not, making the indexes anew
/// would hide it.
bool rows_and_indexes_agree(const PageFile& file, Connection& db);

}  // namespace holdfast::sqlite
