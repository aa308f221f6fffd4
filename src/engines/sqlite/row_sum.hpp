#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <holdfast/task.hpp>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/table_shape.hpp"

/// Checksums of unfinished tasks, so that damage on disk is seen before a handler gets the data.
/// SQLite's own check sees a quarter of all flipped bits.
///
/// `payload_sum` is over what never changes and may be long. `row_sum` is over that and whatever
/// decides what happens next. A finished task has the row sum 0, so that a state that was changed
/// by damage is seen in both directions. A lane's sum is over its names, and an effect's over the
/// task that it belongs to, its key and its value. A transaction's is over the state and the data
/// that it continues with.
namespace holdfast::sqlite {

/// Whether that is the number of a state in which a task is over.
constexpr bool is_finished_number(std::int64_t state) { return state >= 2 && state <= 4; }

std::int64_t payload_sum(std::string_view payload, const std::optional<std::string_view>& tags = {},
                         const std::optional<std::string_view>& unique_key = {},
                         const std::optional<std::string_view>& backoff = {});
/// Instead of the sum, where a payload is known to be damaged and its task is held: it never fits,
/// so no handler gets the payload, and nobody needs to be told again.
inline constexpr std::int64_t payload_known_to_be_damaged = 0;
std::int64_t effect_sum(std::int64_t seq, std::string_view key, std::string_view value);
std::int64_t lane_sum(std::string_view queue, std::string_view kind, std::string_view key = {});

/// The row of a transaction was changed: makes its sum fit again.
void seal_transaction(Connection& db, std::int64_t task);
/// Whether that row, if there is one, has a sum that fits, or none: then an earlier version wrote
/// it.
bool transaction_fits(Connection& db, std::int64_t task);
/// The same for a row of holdfast_transactions that was read from a page.
bool transaction_fits(const TableShape& table, std::int64_t task, const Record& row);

/// What `row_sum` is over, in the order of the columns below.
struct SummedRow {
  TaskId id{};
  std::int64_t lane = 0, state = 0, priority = 0, run_at = 0, token = 0, attempt = 0,
               recoveries = 0, crashes = 0, suspect = 0, cancel_requested = 0, created_at = 0,
               max_attempts = 0, timeout = 0, payload_sum = 0;
};
std::int64_t row_sum(const SummedRow& row);

/// The columns of holdfast_tasks that a `SummedRow` is read from.
#define HOLDFAST_SUMMED                                                              \
  "id, lane, state, priority, run_at, token, attempt, recoveries, crashes, suspect," \
  " cancel_requested, created_at, max_attempts, timeout, payload_sum"
inline constexpr int summed_columns = 15;
SummedRow read_summed(const Statement& row, int first_column = 0);

/// Makes the SQL functions holdfast_row_sum(HOLDFAST_SUMMED), holdfast_take and holdfast_end known
/// to a connection.
void add_row_sum_functions(sqlite3* db);
/// A task was changed by an ordinary statement: makes its row sum fit again.
void seal(Connection& db, std::int64_t seq);

/// A row whose sums do not fit.
struct DamagedRow {
  std::int64_t seq = 0;
  TaskId id{};
  bool payload = false;  ///< the payload is damaged; otherwise only the numbers beside it
  std::string what{};    ///< a sentence
};

/// The transaction of a task is.
DamagedRow damaged_transaction(std::int64_t task, TaskId id);

/// A row that was read and compared with its sums.
struct CheckedRow {
  std::int64_t seq = 0;
  SummedRow numbers{};
  std::string payload{};
  std::optional<std::string> backoff{};
  std::optional<DamagedRow> damage{};
  bool known = false;  ///< it is held for its damage: a person was told
};
/// The columns that a `CheckedRow` is read from.
#define HOLDFAST_CHECKED HOLDFAST_SUMMED ", seq, row_sum, tags, unique_key, backoff, payload"
/// Reads a row of HOLDFAST_CHECKED. Payloads of finished tasks are not looked at.
CheckedRow read_checked(const Statement& row);

/// Rows that one statement claims and reads at the same time: beside its other changes it sets
/// `row_sum = holdfast_take(?, HOLDFAST_CHECKED)`, with one of these bound as the parameter. Going
/// through the rows once instead of twice saves a tenth of the time of a claim.
struct TakenRows {
  std::int64_t token_floor = 0;
  std::vector<CheckedRow> rows{};  ///< as they were before
};
inline constexpr const char* taken_rows_type = "holdfast_taken_rows";

/// Rows that one statement settles: it sets `row_sum = holdfast_end(?, seq, lane, STATE)`, which
/// is 0, with one of these bound as the parameter. The statement alone knows which rows it found;
/// with RETURNING, SQLite would make a table of them first.
struct EndedRow {
  std::int64_t seq = 0;
  std::int64_t lane = 0;
  TaskState state = TaskState::completed;  ///< from now on
};
using EndedRows = std::vector<EndedRow>;
inline constexpr const char* ended_rows_type = "holdfast_ended_rows";

/// Calls `found` for every task (with its transaction; and lane and schedule, with seq 0) that is
/// damaged, reading the tables themselves and not their indexes; returns how many tasks were looked
/// at.
std::int64_t find_damaged_rows(Connection& db, const std::function<void(DamagedRow)>& found);

}  // namespace holdfast::sqlite
