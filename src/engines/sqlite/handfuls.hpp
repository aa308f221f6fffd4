#pragma once

#include <span>
#include <vector>

#include "engines/sqlite/store.hpp"
#include "tasks/task_store.hpp"

/// Many rows in one statement. Starting a statement costs SQLite about as much as writing a row and
/// its index entries, so the plain majority of tasks goes in handfuls. Whatever a handful does not
/// take, the caller does one by one, to find out why.
namespace holdfast::sqlite {

/// A task that depends on nothing and for which the columns below are all there is to say.
bool is_plain(const NewTask& task);

struct LaneTask {
  const NewTask* task = nullptr;
  TaskId id{};
  std::int64_t lane = 0;
};
inline constexpr std::size_t tasks_in_handful = 20;
/// All or nothing; false: one of the ids is taken.
bool insert_handful(Connection& db, std::span<const LaneTask, tasks_in_handful> tasks,
                    WallTime now);

/// The end of an attempt that leaves nothing behind but that it is done, of a task whose place is
/// known.
bool is_plain(const Settlement& settlement);

inline constexpr std::size_t settlements_in_handful = 50;
using SettlementHandful = std::span<const Settlement* const, settlements_in_handful>;
/// Returns the places of those that were settled. All of them must have the same token. Only where
/// no task is blocked: nobody is released.
std::vector<std::int64_t> settle_handful(Connection& db, SettlementHandful settlements,
                                         WallTime now);

}  // namespace holdfast::sqlite
