#pragma once

#include "contract/store_under_test.hpp"
#include "tasks/schedule_store.hpp"

namespace holdfast::test {

/// What `ScheduleStore` promises, and `Schedules` and `Scheduler` make of it.
class ScheduleStoreContract : public StoreContract {
 protected:
  ScheduleStore& schedules() { return engine().schedules(); }
  /// A schedule that is due `in` from now.
  Schedule schedule(const std::string& name, Millis in = Millis{0});
  /// Puts it into the store as it is.
  bool put(const Schedule& schedule, std::int64_t seen = 0);
  std::int64_t count_tasks() { return engine().admin().count({}); }
};

}  // namespace holdfast::test
