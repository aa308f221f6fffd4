#pragma once

#include "tasks/schedule_store.hpp"

namespace holdfast {

/// What a schedule that is due does at `now`: its tasks, and what it is afterwards. Throws
/// `InvalidRequest` for one that this program or this machine cannot read.
ScheduleChange fire(const Schedule& schedule, WallTime now);

/// The first time after `now`; nothing if there is none.
std::optional<WallTime> next_time(const Schedule& schedule, WallTime now);

/// The revision after `seen`. It comes from the time, so that a schedule that was removed and added
/// again is never taken for the one before.
std::int64_t next_revision(std::int64_t seen, WallTime now);

/// The id of the task of one time: whoever fires it, and however often, it is the same.
TaskId scheduled_task_id(std::string_view schedule, WallTime time);

inline constexpr Millis late_not_missed = std::chrono::minutes{1};
inline constexpr std::size_t most_missed = 1'000;
/// So many are inserted in one step; the rest is due at once.
inline constexpr std::size_t fired_at_once = 100;

}  // namespace holdfast
