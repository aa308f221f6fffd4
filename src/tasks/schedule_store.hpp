#pragma once

#include <span>
#include <string>
#include <vector>

#include <holdfast/schedule.hpp>

#include "tasks/task_store.hpp"

namespace holdfast {

/// A schedule as it is to be, if it still is as it was seen.
struct ScheduleChange {
  Schedule to;
  std::int64_t seen = 0;         ///< the revision that this is based on; 0: there was none
  std::vector<NewTask> fires{};  ///< inserted in the same step; their ids are set
};

struct AppliedChange {
  bool accepted = false;             ///< false: it was changed by others; nothing was written
  std::vector<Inserted> inserted{};  ///< one for each task
};

/// Where schedules are kept. Adding, pausing and firing are all the same step: compare the revision
/// and set. What is to be set, and when, is decided above.
class ScheduleStore {
 public:
  virtual ~ScheduleStore() = default;

  /// By name.
  virtual std::vector<Schedule> list() = 0;
  /// Those not paused whose next time is `until` or earlier, the earliest first. Schedules that are
  /// not what was written are left out.
  virtual std::vector<Schedule> due(WallTime until, int limit) = 0;
  /// Writes each schedule whose revision is the seen one, with its tasks, and nothing of the
  /// others. All in one atomic step. A task whose id exists is left as it is, whatever it is: that
  /// time was fired before. New tasks are announced. Throws `StoreFull` if there is no room for
  /// them.
  virtual std::vector<AppliedChange> apply(std::span<const ScheduleChange> changes) = 0;
  /// False: there was none.
  virtual bool remove(const std::string& name) = 0;
};

}  // namespace holdfast
