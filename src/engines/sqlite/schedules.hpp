#pragma once

#include <functional>

#include "engines/sqlite/store.hpp"
#include "tasks/schedule_store.hpp"

namespace holdfast::sqlite {

class SqliteScheduleStore final : public ScheduleStore {
 public:
  explicit SqliteScheduleStore(Store& store) : store_{store} {}

  std::vector<Schedule> list() override;
  std::vector<Schedule> due(WallTime until, int limit) override;
  std::vector<AppliedChange> apply(std::span<const ScheduleChange> changes) override;
  bool remove(const std::string& name) override;

 private:
  Store& store_;
};

/// Calls `found` with a sentence for every schedule that is not what was written.
void find_damaged_schedules(Connection& db, const std::function<void(std::string)>& found);
/// Removes them, and returns their names as far as those can be read.
std::vector<std::string> drop_damaged_schedules(Connection& db);
/// After a restore: nobody knows what was fired since the backup, so a person must say that they
/// may go on.
void pause_schedules(Connection& db);

}  // namespace holdfast::sqlite
