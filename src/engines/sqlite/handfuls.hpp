#pragma once

#include <array>
#include <span>
#include <unordered_map>

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

/// The end of an attempt that leaves nothing behind but that it is done.
bool is_plain(const Settlement& settlement);

inline constexpr std::size_t settlements_in_handful = 50;
using SettlementHandful = std::span<const Settlement* const, settlements_in_handful>;
/// Returns the claims that were settled. Only where no task is blocked: nobody is released.
std::unordered_map<TaskId, Token> settle_handful(Connection& db, SettlementHandful settlements,
                                                 WallTime now);

}  // namespace holdfast::sqlite
