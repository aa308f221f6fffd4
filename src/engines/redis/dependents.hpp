#pragma once

#include <limits>
#include <optional>
#include <vector>

#include <holdfast/events.hpp>

#include "engines/redis/task_change.hpp"

namespace holdfast::redis {

/// Tasks that wait for others which came to their ends, and have not heard of it yet.
struct Dependents {
  struct Task {
    LookedTask found{};
    std::vector<EndedTask> ended{};  ///< of those that it waits for; its row says whether for more
  };
  std::optional<Reply> answer{};  ///< has the names of actors
  std::vector<Task> tasks{};
};
/// `list`: a part of the `answer` of a script, see dependents.lua.
Dependents read_dependents(const Reply& answer, const Value& list);
/// Those that other steps have left.
Dependents find_dependents(Store& store);

/// A step that others wait for tells this many, and leaves the rest to the next one.
inline constexpr std::size_t dependents_of_a_step = 2'000;
inline constexpr auto all_dependents = std::numeric_limits<std::size_t>::max();

/// Runs or cancels them, what waited for those, and so on. Where a process dies in between, another
/// one continues. Returns what became of them.
std::vector<TaskChanged> end_dependents(Store& store, Dependents dependents, std::size_t most);

}  // namespace holdfast::redis
