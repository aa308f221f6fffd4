#pragma once

#include <atomic>
#include <memory>

#include <fmt/format.h>
#include <holdfast/attempt.hpp>
#include <holdfast/engine.hpp>
#include <holdfast/events.hpp>
#include <holdfast/http/payloads.hpp>

#include "tasks/reserved.hpp"

namespace holdfast::http {

/// Of the payload of an attempt.
inline SealedFor owner_of(const Attempt& attempt) {
  return {attempt.task(), attempt.kind(), queue_of(attempt)};
}

/// Says once that a payload of an earlier version was opened, which is not bound to its task.
/// Copies say it once together. Safe to use from many threads.
class UnboundWarning {
 public:
  explicit UnboundWarning(Engine engine) : engine_{std::move(engine)} {}

  void say(TaskId task) const {
    if (said_->exchange(true)) return;
    engine_.events().emit(StoreWarning{fmt::format(
        "task {} has a payload that an earlier version encrypted, which is not bound to its task; "
        "once there are no more of them, set --refuse-unbound. This is said once",
        task.text())});
  }

 private:
  Engine engine_;
  std::shared_ptr<std::atomic<bool>> said_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace holdfast::http
