#pragma once

#include <optional>

#include <holdfast/task.hpp>

#include "engines/sqlite/connection.hpp"

namespace holdfast::sqlite {

/// The whole of one task, for people; nothing if it is gone.
std::optional<TaskRecord> read_record(Connection& db, std::int64_t seq);

}  // namespace holdfast::sqlite
