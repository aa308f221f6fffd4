#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <holdfast/task.hpp>

#include "engines/sqlite/connection.hpp"

namespace holdfast::sqlite {

/// Checksums of unfinished tasks, so that damage on disk is seen before a handler gets the data.
/// `payload_sum` is over what never changes and may be long (payload, tags, unique key, back-off),
/// `row_sum` over it and what decides what happens next (id, lane, state, priority, run_at, token,
/// attempts, crashes, limits). A finished task has the row sum 0, so that a state that was changed
/// by damage is seen in both directions.

/// A row whose sums do not fit.
struct DamagedRow {
  std::int64_t seq = 0;
  TaskId id{};
  bool payload = false;  ///< the payload is damaged; otherwise only the numbers beside it
  std::string what;      ///< a sentence
};

/// Calls `found` for every row of holdfast_tasks that is damaged, reading the table itself and not
/// its indexes; returns how many rows were looked at.
std::int64_t find_damaged_rows(Connection& db, const std::function<void(DamagedRow)>& found);

}  // namespace holdfast::sqlite
