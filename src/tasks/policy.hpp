#pragma once

#include <holdfast/outcome.hpp>

#include "recovery/backoff.hpp"
#include "tasks/task_store.hpp"

namespace holdfast {

/// What a worker knows about the end of an attempt, beside what the handler returned.
struct AttemptEnd {
  bool cancel_requested = false;
  bool timed_out = false;
  double random = 0.5;  ///< in [0, 1): spreads the back-off
  std::int64_t result_bytes = Settings::Limits{}.result_bytes;
};

/// What becomes of a task whose handler returned `outcome`. Follow-up tasks are the caller's to
/// add, and only where this says completed.
///
/// Done wins over everything: the work is done, even if it was asked to stop or took too long.
/// Otherwise a cancel that was asked for ends it, and a timeout counts as a failed attempt.
Settlement settle_for(const Claimed& claimed, const Outcome& outcome, const AttemptEnd& end);

/// Puts a task back that was claimed but not finished, as a worker does when it shuts down. It may
/// be claimed again at once, and no attempt is charged. With a reason it is in the history.
Settlement give_back(const Claimed& claimed, std::string reason = {});

}  // namespace holdfast
