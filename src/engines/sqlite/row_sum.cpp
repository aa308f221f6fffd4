#include "engines/sqlite/row_sum.hpp"

#include <sqlite3.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>

#include <fmt/format.h>

#include "engines/sqlite/schedules.hpp"

namespace holdfast::sqlite {

namespace {

using Numbers = std::array<std::int64_t, summed_columns - 1>;

/// Zero means finished.
std::int64_t never_zero(std::uint64_t sum) { return sum == 0 ? 1 : static_cast<std::int64_t>(sum); }

std::uint64_t sum_of(std::string_view text, std::uint64_t seed) {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

std::int64_t sum_of_row(const void* id, const Numbers& numbers) {
  if (is_finished_number(numbers[1])) return 0;
  std::array<unsigned char, 16 + sizeof(Numbers)> bytes;
  std::memcpy(bytes.data(), id, 16);
  std::memcpy(bytes.data() + 16, numbers.data(), sizeof(Numbers));
  return never_zero(XXH3_64bits(bytes.data(), bytes.size()));
}

void sql_row_sum(sqlite3_context* context, int, sqlite3_value** values) {
  if (sqlite3_value_bytes(values[0]) != 16) return sqlite3_result_int64(context, 0);
  Numbers numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = sqlite3_value_int64(values[i + 1]);
  sqlite3_result_int64(context, sum_of_row(sqlite3_value_blob(values[0]), numbers));
}

std::string sentence(const SummedRow& row, std::int64_t stored, bool payload_fits) {
  if (!payload_fits) return fmt::format("The payload of task {} is damaged.", row.id.text());
  bool finished = is_finished_number(row.state);
  if (finished != (stored == 0)) {
    return fmt::format("The state of task {} was changed by damage.", row.id.text());
  }
  return fmt::format("The row of task {} is damaged.", row.id.text());
}

/// The arguments of an SQL function, to be read like the columns of a row.
class Arguments {
 public:
  explicit Arguments(sqlite3_value** values) : values_{values} {}
  std::int64_t integer(int at) const { return sqlite3_value_int64(values_[at]); }
  bool is_integer(int at) const { return sqlite3_value_type(values_[at]) == SQLITE_INTEGER; }
  bool is_text(int at) const { return sqlite3_value_type(values_[at]) == SQLITE_TEXT; }
  bool is_null(int at) const { return sqlite3_value_type(values_[at]) == SQLITE_NULL; }
  std::string text(int at) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values_[at]));
    if (text == nullptr) return {};
    return {text, static_cast<std::size_t>(sqlite3_value_bytes(values_[at]))};
  }
  TaskId task_id(int at) const {
    TaskId id;
    if (sqlite3_value_bytes(values_[at]) == static_cast<int>(id.bytes.size()))
      std::memcpy(id.bytes.data(), sqlite3_value_blob(values_[at]), id.bytes.size());
    return id;
  }

 private:
  sqlite3_value** values_;
};

template <class Row>
std::optional<std::string> optional_text(const Row& row, int column) {
  if (row.is_null(column)) return {};
  return row.text(column);
}

template <class Row>
SummedRow summed(const Row& row, int first) {
  // One flipped bit makes an empty blob of a zero, and SQLite gives it out as zero again.
  auto number = [&](int column) {
    column += first;
    return row.is_integer(column) ? row.integer(column) : std::numeric_limits<std::int64_t>::min();
  };
  return {row.task_id(first), number(1),  number(2),  number(3),  number(4),
          number(5),          number(6),  number(7),  number(8),  number(9),
          number(10),         number(11), number(12), number(13), number(14)};
}

template <class Row>
CheckedRow checked_row(const Row& row) {
  constexpr int seq = summed_columns, stored = seq + 1, tags = seq + 2, key = seq + 3,
                backoff = seq + 4, payload = seq + 5;
  CheckedRow checked;
  checked.seq = row.integer(seq);
  checked.numbers = summed(row, 0);
  auto sum = row.integer(stored);
  bool row_fits = row_sum(checked.numbers) == sum;
  // Reading what is long costs most of the time, and on what is over nothing depends.
  if (row_fits && sum == 0) return checked;
  checked.payload = row.text(payload);
  checked.backoff = optional_text(row, backoff);
  auto found = payload_sum(checked.payload, optional_text(row, tags), optional_text(row, key),
                           checked.backoff);
  auto is_text = [&](int column) { return row.is_null(column) || row.is_text(column); };
  bool payload_fits = found == checked.numbers.payload_sum && row.is_text(payload) &&
                      is_text(tags) && is_text(key) && is_text(backoff);
  checked.known = row_fits && checked.numbers.payload_sum == payload_known_to_be_damaged &&
                  checked.numbers.state == static_cast<std::int64_t>(TaskState::held);
  if (!row_fits || !payload_fits) {
    checked.damage = {checked.seq, checked.numbers.id, !payload_fits,
                      sentence(checked.numbers, sum, payload_fits)};
  }
  return checked;
}

void sql_take(sqlite3_context* context, int, sqlite3_value** values) {
  auto* taken = static_cast<TakenRows*>(sqlite3_value_pointer(values[0], taken_rows_type));
  if (taken == nullptr) return sqlite3_result_error(context, "nobody takes these rows", -1);
  try {
    auto numbers = taken->rows.emplace_back(checked_row(Arguments{values + 1})).numbers;
    numbers.state = static_cast<std::int64_t>(TaskState::running);
    numbers.token = std::max(numbers.token + 1, taken->token_floor);
    ++numbers.attempt;
    sqlite3_result_int64(context, row_sum(numbers));
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

void sql_end(sqlite3_context* context, int, sqlite3_value** values) {
  auto* ended = static_cast<EndedRows*>(sqlite3_value_pointer(values[0], ended_rows_type));
  if (ended == nullptr) return sqlite3_result_error(context, "nobody settles these rows", -1);
  try {
    ended->push_back({sqlite3_value_int64(values[1]), sqlite3_value_int64(values[2]),
                      static_cast<TaskState>(sqlite3_value_int(values[3]))});
    sqlite3_result_int64(context, 0);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

void find_damaged_lanes(Connection& db, const std::function<void(DamagedRow)>& found) {
  auto lanes = db.use("SELECT lane, queue, kind, key, sum FROM holdfast_lanes NOT INDEXED");
  while (lanes.step()) {
    if (lane_sum(lanes.text(1), lanes.text(2), lanes.text(3)) == lanes.integer(4)) continue;
    found({.what = fmt::format("The names of lane {} (a queue, a kind and a key) are damaged.",
                               lanes.integer(0))});
  }
}

#define HOLDFAST_SUMMED_TRANSACTION \
  "task, x.state, data, failures, began_at, entered_at, progressed_at, sum"
constexpr std::int64_t no_transaction_sum = 0;

struct SummedTransaction {
  std::array<std::int64_t, 5> numbers{};  ///< task, failures, began_at, entered_at, progressed_at
  std::string state{};
  std::string data{};
  std::int64_t sum = no_transaction_sum;

  explicit SummedTransaction(const Statement& row)
      : numbers{row.integer(0), row.integer(3), row.integer(4), row.integer(5), row.integer(6)},
        state{row.text(1)},
        data{row.text(2)},
        sum{row.integer(7)} {}

  SummedTransaction(const TableShape& table, std::int64_t task, const Record& row) {
    auto number = [&](const char* name) { return integer(row[table.place_of(name)]); };
    auto text = [&](const char* name) { return std::get<std::string>(row[table.place_of(name)]); };
    numbers = {task, number("failures"), number("began_at"), number("entered_at"),
               number("progressed_at")};
    state = text("state");
    data = text("data");
    sum = number("sum");
  }

  std::int64_t right_sum() const {
    return never_zero(sum_of(data, sum_of(state, XXH3_64bits(numbers.data(), sizeof numbers))));
  }
  bool fits() const { return sum == no_transaction_sum || sum == right_sum(); }
};

/// Held and finished tasks need none of it.
void find_damaged_transactions(Connection& db, const std::function<void(DamagedRow)>& found) {
  auto rows = db.use("SELECT " HOLDFAST_SUMMED_TRANSACTION
                     ", t.id FROM holdfast_transactions x JOIN holdfast_tasks t ON t.seq = x.task"
                     " WHERE t.state IN ({pending}, {running}, {blocked})");
  while (rows.step())
    if (!SummedTransaction{rows}.fits())
      found(damaged_transaction(rows.integer(0), rows.task_id(8)));
}

}  // namespace

std::int64_t payload_sum(std::string_view payload, const std::optional<std::string_view>& tags,
                         const std::optional<std::string_view>& unique_key,
                         const std::optional<std::string_view>& backoff) {
  auto sum = sum_of(payload, 0);
  // What is not there adds nothing, and each column has a number of its own.
  if (tags) sum = sum_of(*tags, sum + 1);
  if (unique_key) sum = sum_of(*unique_key, sum + 2);
  if (backoff) sum = sum_of(*backoff, sum + 3);
  return static_cast<std::int64_t>(sum);
}

std::int64_t effect_sum(std::int64_t seq, std::string_view key, std::string_view value) {
  return static_cast<std::int64_t>(sum_of(value, sum_of(key, static_cast<std::uint64_t>(seq))));
}

std::int64_t lane_sum(std::string_view queue, std::string_view kind, std::string_view key) {
  return static_cast<std::int64_t>(sum_of(key, sum_of(kind, sum_of(queue, 0))));
}

std::int64_t row_sum(const SummedRow& row) {
  return sum_of_row(row.id.bytes.data(),
                    {row.lane, row.state, row.priority, row.run_at, row.token, row.attempt,
                     row.recoveries, row.crashes, row.suspect, row.cancel_requested, row.created_at,
                     row.max_attempts, row.timeout, row.payload_sum});
}

SummedRow read_summed(const Statement& row, int first) { return summed(row, first); }

void add_row_sum_functions(sqlite3* db) {
  auto add = [&](const char* name, int arguments, int flags, auto* function) {
    int code = sqlite3_create_function_v2(db, name, arguments, SQLITE_UTF8 | flags, nullptr,
                                          function, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) throw_sqlite_error(db, code, "adding a function");
  };
  add("holdfast_row_sum", summed_columns, SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, sql_row_sum);
  add("holdfast_take", 1 + summed_columns + 6, SQLITE_DIRECTONLY, sql_take);
  add("holdfast_end", 4, SQLITE_DIRECTONLY, sql_end);
}

void seal(Connection& db, std::int64_t seq) {
  db.use("UPDATE holdfast_tasks SET row_sum = holdfast_row_sum(" HOLDFAST_SUMMED ") WHERE seq = ?")
      .bind(seq)
      .run();
}

DamagedRow damaged_transaction(std::int64_t task, TaskId id) {
  return {task, id, false, fmt::format("What transaction {} goes on with is damaged.", id.text())};
}

void seal_transaction(Connection& db, std::int64_t task) {
  std::int64_t sum = no_transaction_sum;
  {
    auto row = db.use("SELECT " HOLDFAST_SUMMED_TRANSACTION
                      " FROM holdfast_transactions x WHERE task = ?");
    if (!row.bind(task).step()) return;
    sum = SummedTransaction{row}.right_sum();
  }
  db.use("UPDATE holdfast_transactions SET sum = ? WHERE task = ?").bind(sum, task).run();
}

bool transaction_fits(Connection& db, std::int64_t task) {
  auto row =
      db.use("SELECT " HOLDFAST_SUMMED_TRANSACTION " FROM holdfast_transactions x WHERE task = ?");
  return !row.bind(task).step() || SummedTransaction{row}.fits();
}

bool transaction_fits(const TableShape& table, std::int64_t task, const Record& row) {
  return SummedTransaction{table, task, row}.fits();
}

CheckedRow read_checked(const Statement& row) { return checked_row(row); }

std::int64_t find_damaged_rows(Connection& db, const std::function<void(DamagedRow)>& found) {
  find_damaged_lanes(db, found);
  find_damaged_transactions(db, found);
  find_damaged_schedules(db, [&](std::string what) { found({.what = std::move(what)}); });
  std::int64_t rows = 0;
  auto tasks = db.use("SELECT " HOLDFAST_CHECKED " FROM holdfast_tasks NOT INDEXED");
  for (; tasks.step(); ++rows) {
    auto row = read_checked(tasks);
    if (row.damage && !row.known) found(std::move(*row.damage));
  }
  return rows;
}

}  // namespace holdfast::sqlite
