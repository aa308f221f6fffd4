#pragma once

#include <functional>
#include <map>
#include <vector>

#include <holdfast/inspector.hpp>

#include "engines/redis/store.hpp"
#include "engines/redis/task_record.hpp"

namespace holdfast::redis {

/// How many tasks of a lane are in each state. Kept by the scripts that change states.
struct LaneCounts {
  std::string name;
  Lane lane;
  std::int64_t counts[task_state_count] = {};
};
std::vector<LaneCounts> lane_counts(Store& store);

/// The number of a task in the order of insertion; nothing if it is gone.
std::optional<std::int64_t> number_of(Store& store, TaskId id);

/// Finds tasks, oldest or newest first, in portions, so that the server is never kept for long.
class TaskSearch {
 public:
  TaskSearch(Store& store, const TaskFilter& filter);

  /// Hands over what is found until it returns false.
  using Visitor = std::function<bool(const std::vector<TaskId>&)>;
  /// Begins behind the task with the number `after`. `go_on`: see `TaskPage`.
  void each(bool newest_first, const Visitor& visit, std::optional<std::int64_t> after = {},
            const std::function<bool(TaskId)>& go_on = {});
  /// `go_on`: see `TaskAdmin`.
  std::int64_t count(const std::function<bool()>& go_on);

 private:
  bool state_is_wanted(TaskState state) const;
  bool counts_say_it() const;
  bool few() const;
  std::vector<std::string> ids_by_state();
  std::vector<std::string> members(const std::string& index);
  std::vector<std::string> held();
  std::vector<std::string> completed();
  /// `body`: nothing if it does not matter.
  bool matches(const std::optional<RowText>& row, const Value* body) const;
  std::vector<TaskId> matching(const std::vector<std::string>& ids);
  void put_in_order(std::vector<TaskId>& ids, bool newest_first, std::optional<std::int64_t> after);
  void each_of_all(bool newest_first, const Visitor& visit, std::optional<std::int64_t> after,
                   const std::function<bool(TaskId)>& go_on);

  Store& store_;
  const TaskFilter& filter_;
  std::vector<LaneCounts> lanes_;
};

}  // namespace holdfast::redis
