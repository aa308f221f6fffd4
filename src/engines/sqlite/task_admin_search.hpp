#pragma once

#include <functional>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "engines/sqlite/store.hpp"

namespace holdfast::sqlite {

/// A condition that picks the tasks of one state in a way that lets SQLite use the index that
/// holds only such states.
std::string state_clause(TaskState state);

/// Finds the tasks that a filter describes, in portions: no read is long, however many tasks there
/// are, because a long one would keep the WAL from being started anew. So the whole is not one
/// snapshot.
class TaskSearch {
 public:
  struct Found {
    std::int64_t seq = 0;
    TaskId id;
    auto operator<=>(const Found&) const = default;
  };
  enum class Order { oldest_first, newest_first };
  /// Gets a portion; false ends the search.
  using Visitor = std::function<bool(const std::vector<Found>&)>;

  TaskSearch(Reader& reader, const TaskFilter& filter);

  /// Begins behind the task with the number `after` (0: at the first one). `go_on`: see `TaskPage`.
  void each(Order order, const Visitor& visit, std::int64_t after = 0,
            const std::function<bool(TaskId)>& go_on = {});
  /// `go_on`: see `TaskAdmin`.
  std::int64_t count(const std::function<bool()>& go_on);

 private:
  struct Window {
    std::int64_t from = 0;
    std::int64_t to = 0;  ///< not included
  };
  bool is_about_states_and_lanes() const;
  bool few() const;
  std::vector<Found> select(Connection& db, const std::string& which, Window window) const;
  std::vector<Found> find_by_id() const;
  std::vector<Found> find_by_state() const;
  Window extent(Order order, std::int64_t after) const;
  TaskId last_of(Window window, Order order) const;

  Reader& reader_;
  const TaskFilter& filter_;
  bool nothing_can_match_ = false;
  std::string lanes_;       // JSON array
  std::string conditions_;  // on everything but the state and the id
  std::string states_;      // condition on the state
};

}  // namespace holdfast::sqlite
