#pragma once

#include <atomic>
#include <optional>

#include <holdfast/events.hpp>
#include <holdfast/http/payloads.hpp>
#include <holdfast/outcome.hpp>

#include "tasks/task_store.hpp"

namespace holdfast::server {

/// Opens what remote workers are to read. The answer to a request may be encrypted or kept
/// elsewhere, as its processor was told; a worker that was given the wrapping would take it for the
/// answer. Safe to use from many threads.
class Unsealing {
 public:
  explicit Unsealing(http::PayloadOptions payloads) : payloads_{std::move(payloads)} {}

  /// Puts what the worker reads in the place of the payload. Where that cannot be, returns how the
  /// attempt ends instead of being handed out; it is not charged for blobs that are away.
  std::optional<Outcome> open(Claimed& task, Events& events);

 private:
  std::optional<Outcome> read(Claimed& task, Events& events) const;

  http::PayloadOptions payloads_;
  std::atomic<int> reading_ = 0;  ///< of those that wait for blobs
};

}  // namespace holdfast::server
