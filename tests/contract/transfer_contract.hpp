#pragma once

#include "contract/store_under_test.hpp"
#include "tasks/task_transfer.hpp"

namespace holdfast::test {

/// What `TaskTransfer` promises.
class TransferContract : public StoreContract {
 protected:
  TaskTransfer& transfer() { return engine().transfer(); }
  Parcel pack(TaskId id) { return transfer().pack(std::span{&id, 1}).at(0); }
  Adopted adopt(const Parcel& parcel) { return transfer().adopt(std::span{&parcel, 1}).at(0); }
  std::int64_t forget(TaskId id) { return transfer().forget(std::span{&id, 1}); }
  void hold(TaskId id, const std::string& cause = "for a reason");
  /// A task as another store might bring it.
  Parcel parcel(TaskState state = TaskState::pending);
};

}  // namespace holdfast::test
