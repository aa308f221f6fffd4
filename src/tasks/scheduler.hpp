#pragma once

#include <set>
#include <string>

#include "tasks/engine_parts.hpp"

namespace holdfast {

/// Fires the schedules of a store that are due. Any number of processes may do so at the same time:
/// the store lets one of them have each time.
class Scheduler {
 public:
  explicit Scheduler(EngineParts& parts) : parts_{parts} {}

  struct Round {
    int fired = 0;  ///< tasks that were enqueued
    Millis wait{};  ///< so long there is nothing to do, as far as can be known
  };
  /// Does nothing on an engine without schedules.
  Round run_once();

 private:
  Millis time_to_wait(ScheduleStore& store, bool fired);
  void tell(const Schedule& schedule, const Inserted& task, WallTime now);
  void complain(const Schedule& schedule, const std::string& why);

  EngineParts& parts_;
  std::set<std::pair<std::string, std::int64_t>> complained_;
};

}  // namespace holdfast
