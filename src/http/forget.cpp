#include "http/forget.hpp"

#include <holdfast/inspector.hpp>
#include <holdfast/payload.hpp>
#include <holdfast/store_identity.hpp>

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

}  // namespace

NewTask forgetting(const std::string& blob) {
  return {forget_kind, to_payload(blob), {.queue = forget_queue, .max_attempts = attempts}};
}

void forget_when_done(Attempt& attempt, const std::string& blob) {
  auto task = forgetting(blob);
  attempt.then_json(std::move(task.kind), std::move(task.payload), std::move(task.options));
}

std::string forget(std::string_view payload, BlobStore& blobs) {
  auto key = from_payload<std::string>(payload);
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
