#pragma once

#include "contract/store_under_test.hpp"

namespace holdfast::test {

/// What `TaskStore` promises beyond `Leases`.
class TaskStoreContract : public StoreContract {
 protected:
  /// Claims up to `limit` as `request` says, and returns the ids in the order they came.
  std::vector<TaskId> claimed_ids(const ClaimRequest& request);
  /// Claims, then lets the worker die; the task comes back as a suspect.
  void make_suspect(TaskId id);
  Settled fail(const Claimed& claimed, const std::string& why = "it broke");
  Recorded note(const Claimed& claimed, std::variant<ProgressNote, LogNote, EffectNote> what);
  /// Waits until `wanted` comes, which must be soon.
  bool woken_by(Wake wanted);
};

}  // namespace holdfast::test
