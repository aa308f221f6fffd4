#pragma once

#include <array>
#include <span>
#include <vector>

#include "engines/sqlite/store.hpp"
#include "tasks/task_store.hpp"

/// Many rows in one statement. Starting a statement costs SQLite about as much as writing a row and
/// its index entries, so the plain majority of tasks goes in handfuls. Whatever a handful does not
/// take, the caller does one by one, to find out why.
namespace holdfast::sqlite {

/// The text of a statement about rows that are named in a list, `... IN (?, ?, ...)`. Values rather
/// than a subquery, because SQLite changes rows as it finds them then; otherwise, or with
/// RETURNING, it makes a table of them first. There is one text for each of a few lengths; a list
/// that does not fill it ends in NULLs, which name no row.
class RowList {
 public:
  static constexpr std::size_t longest = 200;
  RowList(std::string before, std::string after);
  const std::string& text(std::size_t rows) const;

 private:
  static constexpr std::array lengths{std::size_t{1}, std::size_t{10}, std::size_t{50}, longest};
  std::array<std::string, lengths.size()> texts_;
};

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

using SettlementHandful = std::span<const Settlement* const>;
/// Returns the places of those that were settled. All of them must have the same token, and there
/// are at most `RowList::longest`. Only where no task is blocked: nobody is released.
std::vector<std::int64_t> settle_handful(Connection& db, SettlementHandful settlements,
                                         WallTime now);

}  // namespace holdfast::sqlite
