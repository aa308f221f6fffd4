#include "tasks/enqueue_rules.hpp"

#include <fmt/format.h>

#include <holdfast/error.hpp>

namespace holdfast {

void expect_repetition(const NewTask& task, std::string_view id, const TaskIdentity& existing) {
  if (existing != TaskIdentity{task.kind, task.options.queue, task.payload}) refuse_other_task(id);
}

void refuse_other_task(std::string_view id) {
  throw InvalidRequest{fmt::format(
      "task {} already exists with another kind, queue or payload; choose another id", id)};
}

void refuse_unknown_prerequisite(std::string_view id) {
  throw InvalidRequest{
      fmt::format("cannot wait for task {}: it is not in the store (if it finished long ago, it "
                  "may have been removed; then leave the dependency out)",
                  id)};
}

void refuse_cancelled_prerequisite(std::string_view id) {
  throw InvalidRequest{
      fmt::format("cannot wait for task {}: it was cancelled and will never complete", id)};
}

}  // namespace holdfast
