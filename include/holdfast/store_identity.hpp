#pragma once

#include <string>

#include <holdfast/engine.hpp>

namespace holdfast {

/// Names the store of an engine and no other, for whoever keeps things beside it: letters and
/// digits. It stays the same for as long as the store is there, and is made when it is first asked
/// for. A store that is restored from a backup gets another one, and tasks that are moved to
/// another store do not take it along.
std::string store_id(const Engine& engine);

/// Whether the store is being moved to another one, or was: a task that is not in it may be there.
bool is_moved_away(const Engine& engine);

}  // namespace holdfast
