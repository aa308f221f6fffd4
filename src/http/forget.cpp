#include "http/forget.hpp"

#include <fmt/format.h>
#include <holdfast/http/payloads.hpp>
#include <holdfast/inspector.hpp>
#include <holdfast/payload.hpp>
#include <holdfast/store_identity.hpp>

#include "recovery/plain_text.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::http {

namespace {

constexpr int attempts = 100;

constexpr char before_attempt = '.';

std::string blobs_of(const Engine& engine) { return store_id(engine) + "."; }

bool is_payload_of(const TaskRecord& task) {
  return task.state != TaskState::completed && task.state != TaskState::cancelled;
}

/// Or may be about to become that.
bool is_result_of(const TaskRecord& task, const std::string& blob) {
  return task.state == TaskState::running || task.result.find(blob) != task.result.npos;
}

bool may_forget(const std::string& key, const Engine& engine) {
  const auto id = TaskId::parse(std::string_view{key}.substr(key.rfind(before_attempt) + 1));
  if (!id) return false;
  const auto task = Inspector{engine}.task(*id);
  // History may have let go of it; but a task that was moved away keeps its blob.
  if (!task) return key == blob_key(engine, *id) && !is_moved_away(engine);
  return task->state == TaskState::completed && blob_of(task->payload, *id) == key;
}

}  // namespace

NewTask forgetting(const std::string& blob) {
  return {forget_kind, to_payload(blob), {.queue = forget_queue, .max_attempts = attempts}};
}

void forget_when_done(Attempt& attempt, const std::string& blob) {
  then_own(attempt, forgetting(blob));
}

std::string forget(std::string_view payload, const Engine& engine, BlobStore& blobs) {
  auto key = from_payload<std::string>(payload);
  if (!may_forget(key, engine))
    throw PayloadRefused{fmt::format(
        "blob '{}' is not removed: it is not the payload of a task that ended in {}. If it is of "
        "no use, remove it from {} by hand and cancel this task",
        plain(key), engine.name(), blobs.name())};
  blobs.remove(key);
  return key;
}

std::string blob_key(const Engine& engine, TaskId task) { return blobs_of(engine) + task.text(); }

std::string result_key(const Engine& engine, TaskId task) {
  return blob_key(engine, task) + before_attempt + TaskId::make().text();
}

int sweep(const Engine& engine, BlobStore& blobs, std::chrono::seconds least_age) {
  Inspector inspector{engine};
  blobs.remove_unfinished(least_age);
  int removed = 0;
  const auto prefix = blobs_of(engine);
  for (const auto& blob : blobs.list(prefix)) {
    auto rest = std::string_view{blob.key}.substr(prefix.size());
    auto id = TaskId::parse(rest.substr(0, rest.find(before_attempt)));
    if (!id || blob.age < least_age) continue;
    auto task = inspector.task(*id);
    bool is_result = rest.find(before_attempt) != rest.npos;
    if (task && (is_result ? is_result_of(*task, blob.key) : is_payload_of(*task))) continue;
    // Asked after it was not found: a move writes its note before it takes anything away.
    if (is_moved_away(engine)) break;
    removed += blobs.remove(blob.key);
  }
  return removed;
}

}  // namespace holdfast::http
