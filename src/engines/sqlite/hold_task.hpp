#pragma once

#include <string>
#include <string_view>

#include "engines/sqlite/connection.hpp"

namespace holdfast::sqlite {

/// An unfinished task shall wait for a person, who is told the cause. A worker that has it is
/// refused from now on. Goes into its history under the name of `actor`.
void hold_task(Connection& db, std::int64_t seq, TaskState from, std::string_view actor,
               const std::string& cause, WallTime now);

}  // namespace holdfast::sqlite
