#pragma once

#include <vector>

#include <holdfast/inspector.hpp>

#include "engines/sqlite/store.hpp"

namespace holdfast::sqlite {

/// Every queue that has tasks or is paused, by name. Counts come from indexes, in short reads.
std::vector<QueueStatus> queue_statuses(Reader& reader, WallTime now);

/// How many tasks are in a state.
std::int64_t count_in_state(Reader& reader, TaskState state);

}  // namespace holdfast::sqlite
