#pragma once

#include <mutex>
#include <vector>

#include "engines/sqlite/store.hpp"
#include "tasks/task_admin.hpp"

namespace holdfast::sqlite {

/// Removes finished tasks beyond the limits with all that belongs to them, oldest first. Remembers
/// between the steps how many there are too many, because counting takes longer than a step.
class Pruning {
 public:
  explicit Pruning(Store& store) : store_{store} {}

  TaskAdmin::Pruned step(const Settings::Retention& retention, int limit);

 private:
  struct Want;
  Want look(const Settings::Retention& retention);
  void count_if_grown(std::int64_t most);
  std::int64_t remove(const Want& want, const Settings::Retention& retention, int limit);

  Store& store_;
  std::mutex mutex_;
  std::int64_t excess_ = 0;      // finished tasks beyond the limit of number, as last counted
  std::int64_t counted_at_ = 0;  // the number of the newest task then
};

/// Removes tasks with all that belongs to them, whatever their state; returns how many.
std::int64_t remove_tasks(Connection& db, const std::vector<std::int64_t>& seqs);

}  // namespace holdfast::sqlite
