#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/events.hpp>

#include "engines/redis/store.hpp"
#include "tasks/lifecycle.hpp"

namespace holdfast::redis {

/// A task as it was in the server at one moment, or as this process was told of it last.
struct LookedTask {
  TaskRow row{};
  std::string kind{};
};
/// In the order of the ids; nothing: not there.
std::vector<std::optional<LookedTask>> look_at(Store& store, std::span<const TaskId> ids);
/// What row_of in records.lua says of a task.
std::optional<LookedTask> read_looked(TaskId id, const Value& values);
/// A task about which there is nothing to say but its record.
LookedTask looked_from_record(TaskId id, std::string_view record);

/// The time that decisions are made for: scripts add that of the write, on the server's clock.
inline constexpr WallTime when_written{};

/// A change as scripts take it, without the id of the task. `actor`: who cancels what waits for the
/// task, if this does.
void add(Arguments& arguments, const TaskChange& change, std::string_view actor);
/// What a task must be still where nothing of it is to change.
void add(Arguments& arguments, const TaskRow& before);

/// What listeners are told of a change that has a history.
TaskChanged told(const std::string& kind, const TaskChange& change, WallTime written);

/// How often a step is decided again whose tasks have changed since they were read. Each time,
/// another process made progress.
inline constexpr int most_decisions = 100;

}  // namespace holdfast::redis
