#pragma once

#include <vector>

#include <holdfast/integrity.hpp>

#include "engines/sqlite/connection.hpp"

namespace holdfast::sqlite {

/// What the commits that lie behind the gap in the log of `path` did to tasks, as far as that can
/// be read: those that came with them, and those that were changed by them. `left` is open on the
/// database, which is as the commits before the gap left it; null: nothing of a store is left.
/// Where none can be told, it says so.
std::vector<Damage> lost_tasks(const std::string& path, Connection* left);

}  // namespace holdfast::sqlite
