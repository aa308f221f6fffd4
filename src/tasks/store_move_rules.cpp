#include <algorithm>

#include "tasks/store_move.hpp"

namespace holdfast {

/// The closed store fires nothing any more. What was written before the last run died is there.
void StoreMove::take_schedules() {
  if (!from_.schedule_store()) return;
  for (const auto& schedule : from_.schedules().list()) {
    ScheduleChange change{.to = schedule};
    to_.schedules().apply(std::span{&change, 1});
    from_.schedules().remove(schedule.name);
    ++result_.schedules;
  }
}

/// A limit that the other store has for the same is left as it is there.
void StoreMove::take_limits() {
  if (!from_.limit_store()) return;
  auto limits = from_.limits().list();
  if (limits.empty()) return;
  auto theirs = to_.limits().list();
  for (const auto& [limit, uses] : limits) {
    bool known = std::ranges::any_of(theirs, [&](const LimitStatus& other) {
      return other.limit.scope == limit.scope && other.limit.name == limit.name;
    });
    if (known) continue;
    to_.limits().set(std::span{&limit, 1});
    ++result_.limits;
  }
}

}  // namespace holdfast
