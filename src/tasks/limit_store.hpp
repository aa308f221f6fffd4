#pragma once

#include <span>
#include <string>
#include <vector>

#include <holdfast/limit.hpp>

namespace holdfast {

/// Where limits are kept. They are enforced by `TaskStore::exchange` of the same engine: what a
/// claim takes is within every limit, in the same atomic step, whoever else claims meanwhile.
///
/// - How many are running is what the tasks say, so settling, recovery and operators need not keep
///   account. Buckets are kept by the store, on its clock; a bucket that is not there is full.
/// - A limit at the head of the queue does not hide what is behind it: however many tasks of a
///   queue, kind and key are held back, others are claimed in the same step.
/// - `TaskStore::next_due` of a task that is held back says when its bucket has a token again.
///   Where others must end first that is in a second: their ends are announced like new work.
///   Tasks that cannot run at all (`max_running` 0) count as little as those of a paused queue.
/// - Without limits a claim does not pay for any of this.
class LimitStore {
 public:
  virtual ~LimitStore() = default;

  /// Each replaces the one of its scope and name. A new rate starts with a full bucket.
  virtual void set(std::span<const Limit> limits) = 0;
  /// False: there was none.
  virtual bool remove(LimitScope scope, const std::string& name) = 0;
  /// All, by scope and name, each with those of its uses that are not nothing.
  virtual std::vector<LimitStatus> list() = 0;
};

}  // namespace holdfast
