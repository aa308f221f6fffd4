#pragma once

#include <vector>

#include "engines/sqlite/store.hpp"
#include "tasks/task_admin.hpp"

namespace holdfast::sqlite {

/// Removes finished tasks beyond the limits with all that belongs to them, oldest first.
class Pruning {
 public:
  explicit Pruning(Store& store) : store_{store} {}

  TaskAdmin::Pruned step(const Settings::Retention& retention, int limit);

 private:
  struct Want;
  Want look(const Settings::Retention& retention);
  std::int64_t remove(const Want& want, const Settings::Retention& retention, int limit);

  Store& store_;
};

/// Removes tasks with all that belongs to them, whatever their state; returns how many.
std::int64_t remove_tasks(Connection& db, const std::vector<std::int64_t>& seqs);

}  // namespace holdfast::sqlite
