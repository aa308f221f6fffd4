#pragma once

#include <string>

#include <holdfast/attempt.hpp>
#include <holdfast/blobs.hpp>
#include <holdfast/engine.hpp>

namespace holdfast::http {

/// The kind of tasks that remove a blob. One comes into being in the same step that completes the
/// task whose payload the blob was, so it is neither removed too early nor left behind.
inline constexpr const char* forget_kind = "holdfast.http.forget";
/// Every processor with blobs takes from it, whatever its own queues are.
inline constexpr const char* forget_queue = "holdfast.http";

/// What the blob with the payload of a task is called. It begins with the id of the store, because
/// several stores can have their blobs in one place.
std::string blob_key(const Engine& engine, TaskId task);
/// One for its result, which is another for each attempt: these may get different answers. It stays
/// as long as the task does.
std::string result_key(const Engine& engine, TaskId task);

/// The task that removes one, to be added where an attempt completes.
NewTask forgetting(const std::string& blob);
void forget_when_done(Attempt& attempt, const std::string& blob);
/// Does it; returns the blob's key. Removes the payload of a task that ended only: throws
/// `PayloadRefused` for any other blob, and for one of another store unless its task is in this one
/// (after a move).
std::string forget(std::string_view payload, const Engine& engine, BlobStore& blobs);

/// Removes blobs of this store older than `least_age` whose task is gone or completed: those of a
/// process that died between writing the blob and the task, and of tasks that history has let go.
/// Of results, those that are of no task any more.
/// Not while the store is being moved away or after that: its tasks are elsewhere. Returns how
/// many.
int sweep(const Engine& engine, BlobStore& blobs, std::chrono::seconds least_age);

}  // namespace holdfast::http
