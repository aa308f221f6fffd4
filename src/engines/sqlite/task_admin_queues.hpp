#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "engines/sqlite/store.hpp"

namespace holdfast::sqlite {

/// Every queue that has tasks or is paused, by name.
std::vector<QueueStatus> queue_statuses(Reader& reader, WallTime now);

/// How many tasks are in these states (none: in any) and in these lanes, a JSON array (nothing: in
/// all).
std::int64_t count_tasks(Connection& db, std::span<const TaskState> states,
                         const std::optional<std::string>& lanes = {});

}  // namespace holdfast::sqlite
