#pragma once

#include <functional>
#include <map>
#include <vector>

#include <holdfast/inspector.hpp>

#include "engines/redis/store.hpp"

namespace holdfast::redis {

/// How many tasks of a lane are in each state. Kept by the scripts that change states.
struct LaneCounts {
  std::string name;
  Lane lane;
  std::int64_t counts[task_state_count] = {};
};
std::vector<LaneCounts> lane_counts(Store& store);

/// Finds tasks, oldest or newest first, in portions, so that the server is never kept for long.
class TaskSearch {
 public:
  TaskSearch(Store& store, const TaskFilter& filter);

  /// Hands over what is found until it returns false.
  using Visitor = std::function<bool(const std::vector<TaskId>&)>;
  void each(bool newest_first, const Visitor& visit);
  std::int64_t count();

 private:
  bool state_is_wanted(TaskState state) const;
  bool counts_say_it() const;
  bool few() const;
  std::vector<std::string> ids_by_state();
  std::vector<std::string> members(const std::string& index);
  /// `body`: nothing if it does not matter.
  bool matches(const Value& row, const Value* body) const;
  std::vector<TaskId> matching(const std::vector<std::string>& ids);
  void put_in_order(std::vector<TaskId>& ids, bool newest_first);
  void each_of_all(bool newest_first, const Visitor& visit);

  Store& store_;
  const TaskFilter& filter_;
  std::vector<LaneCounts> lanes_;
};

}  // namespace holdfast::redis
