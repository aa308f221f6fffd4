#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/postgres/connection.hpp"
#include "tasks/allowance.hpp"
#include "tasks/task_store.hpp"

namespace holdfast::postgres {

/// Claims and next-due times start from the groups of ready tasks that a request may claim from:
/// those of one priority, queue and kind, with limit keys or without.
struct ReadyGroup {
  int priority = 0;
  std::string queue{};
  std::string kind{};
  bool keyed = false;
  bool limited = false;                 ///< some limit is about them
  std::optional<std::int64_t> fresh{};  ///< number of the first that is ready from the beginning
  bool due = false;                     ///< some had to wait, and their time has come
  bool suspects = false;                ///< some must run alone
  std::string key{};    ///< only those of this key; empty: of any, because no limit asks
  WallTime earliest{};  ///< that one of them may run at; known where keys are
  LimitNames names() const { return {queue, kind, key}; }
};

/// Each queue with the time since when the one that has been ready longest is so.
Rows oldest_ready(Connection& db);

/// One statement that finds the groups whatever their keys are.
void queue_groups(Connection& db, const ClaimRequest& request);
/// Two statements that find the groups apart by key, if there are limits of keys.
void queue_groups_by_key(Connection& db, const ClaimRequest& request);
/// What these statements answered, by priority.
std::vector<ReadyGroup> read_groups(Rows rows);
std::vector<ReadyGroup> read_groups_by_key(Rows without, Rows with_keys);

}  // namespace holdfast::postgres
