#pragma once

#include <limits>
#include <optional>

#include <holdfast/task.hpp>

#include "engines/sqlite/connection.hpp"

namespace holdfast::sqlite {

/// The whole of one task, for people, its payload and result cut to `longest` characters; nothing
/// if it is gone.
std::optional<TaskRecord> read_record(
    Connection& db, std::int64_t seq,
    std::size_t longest = std::numeric_limits<std::size_t>::max());

}  // namespace holdfast::sqlite
