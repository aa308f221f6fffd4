#include "http/forget.hpp"

#include <holdfast/inspector.hpp>
#include <holdfast/payload.hpp>
#include <holdfast/store_identity.hpp>

namespace holdfast::http {

namespace {

constexpr int attempts = 100;

std::string blobs_of(const Engine& engine) { return store_id(engine) + "."; }

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

int sweep(const Engine& engine, BlobStore& blobs, std::chrono::seconds least_age) {
  Inspector inspector{engine};
  blobs.remove_unfinished(least_age);
  int removed = 0;
  const auto prefix = blobs_of(engine);
  for (const auto& blob : blobs.list(prefix)) {
    auto id = TaskId::parse(blob.key.substr(prefix.size()));
    if (!id || blob.age < least_age) continue;
    auto task = inspector.task(*id);
    if (task && task->state != TaskState::completed && task->state != TaskState::cancelled)
      continue;
    // Asked after it was not found: a move writes its note before it takes anything away.
    if (is_moved_away(engine)) break;
    removed += blobs.remove(blob.key);
  }
  return removed;
}

}  // namespace holdfast::http
