#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/ids.hpp>
#include <holdfast/task.hpp>

struct pg_result;

namespace holdfast::postgres {

/// The rows that a statement returned. Columns are read by number, in the row that `next` came to:
///
///     while (rows.next()) ids.push_back(rows.task_id(0));
class Rows {
 public:
  Rows() = default;
  explicit Rows(pg_result* result);

  bool next();  ///< to the first row, to the next one; false: no more
  std::int64_t count() const { return count_; }
  int columns() const;
  /// Rows that were changed, for statements that return none.
  std::int64_t changed() const;

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  int small(int column) const { return static_cast<int>(integer(column)); }
  bool yes(int column) const { return integer(column) != 0; }
  double real(int column) const;
  std::string text(int column) const { return std::string{bytes(column)}; }
  TaskId task_id(int column) const;
  WorkerId worker_id(int column) const;
  ReportId report_id(int column) const;
  std::optional<WorkerId> optional_worker(int column) const;
  TaskState state(int column) const { return static_cast<TaskState>(integer(column)); }
  WallTime time(int column) const { return WallTime{Millis{integer(column)}}; }
  std::optional<WallTime> optional_time(int column) const;
  std::vector<std::string> texts(int column) const;
  std::vector<TaskId> task_ids(int column) const;
  std::vector<std::int64_t> integers(int column) const;

 private:
  std::string_view bytes(int column) const;

  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_{};
  int count_ = 0;
  int row_ = -1;
};

}  // namespace holdfast::postgres
