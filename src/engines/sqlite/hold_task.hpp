#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engines/sqlite/connection.hpp"

namespace holdfast::sqlite {

/// An unfinished task waits for an operator, who is told the cause. A worker that has it is refused
/// from now on. Goes into its history under the name of `actor`. Nothing if there is no such task,
/// or it is held already.
std::optional<TaskId> hold_task(Connection& db, std::int64_t seq, std::string_view actor,
                                const std::string& cause, WallTime now);

}  // namespace holdfast::sqlite
