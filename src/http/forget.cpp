#include "http/forget.hpp"

#include <holdfast/inspector.hpp>
#include <holdfast/payload.hpp>

namespace holdfast::http {

namespace {

constexpr int attempts = 100;

}  // namespace

void forget_when_done(Attempt& attempt, const std::string& blob) {
  attempt.then(forget_kind, blob, {.max_attempts = attempts});
}

std::string forget(std::string_view payload, BlobStore& blobs) {
  auto key = from_payload<std::string>(payload);
  blobs.remove(key);
  return key;
}

int sweep(const Engine& engine, BlobStore& blobs, std::chrono::seconds least_age) {
  Inspector inspector{engine};
  blobs.remove_unfinished(least_age);
  int removed = 0;
  for (const auto& blob : blobs.list()) {
    auto id = TaskId::parse(blob.key);
    if (!id || blob.age < least_age) continue;
    auto task = inspector.task(*id);
    if (task && task->state != TaskState::completed && task->state != TaskState::cancelled)
      continue;
    removed += blobs.remove(blob.key);
  }
  return removed;
}

}  // namespace holdfast::http
