#pragma once

#include <span>
#include <vector>

#include "engines/redis/store.hpp"

namespace holdfast::redis {

/// The tasks that are in the store, in the order of their ids here.
std::vector<TaskRecord> read_records(Store& store, std::span<const TaskId> ids);

}  // namespace holdfast::redis
