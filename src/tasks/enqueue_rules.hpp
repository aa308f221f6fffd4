#pragma once

#include <string>
#include <string_view>

#include <holdfast/task.hpp>

namespace holdfast {

/// What must be equal for a second enqueue with the same id to be a repetition of the first. How a
/// task is run (priority, attempts, limit key, ...) is not among it: a new release of a producer
/// may repeat what an older one began.
struct TaskIdentity {
  std::string kind;
  std::string queue;
  std::string payload;

  bool operator==(const TaskIdentity&) const = default;
};

/// Throws `InvalidRequest` unless `task`, whose id is taken, is a repetition of what has it.
void expect_repetition(const NewTask& task, std::string_view id, const TaskIdentity& existing);
/// Throws the same, where the comparison was made in the store.
[[noreturn]] void refuse_other_task(std::string_view id);
/// Throw `InvalidRequest` for a task that is to wait for `id`.
[[noreturn]] void refuse_unknown_prerequisite(std::string_view id);
[[noreturn]] void refuse_cancelled_prerequisite(std::string_view id);

}  // namespace holdfast
