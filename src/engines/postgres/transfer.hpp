#pragma once

#include "engines/postgres/store.hpp"
#include "tasks/task_transfer.hpp"

/// Every insert holds, shared, what who closes the store must have alone. So nothing is inserted
/// after it is closed, and who closed it finds all that was inserted before.
#define HOLDFAST_LOCK_OF_MOVES "(hashtextextended('hf.move', 0))"

namespace holdfast::postgres {

class PostgresTaskTransfer final : public TaskTransfer {
 public:
  PostgresTaskTransfer(Store& store, TaskAdmin& admin) : store_{store}, admin_{admin} {}

  std::optional<MoveNote> note() override;
  void set_note(const std::optional<MoveNote>& note) override;
  std::vector<Parcel> pack(std::span<const TaskId> ids) override;
  std::vector<Adopted> adopt(std::span<const Parcel> parcels) override;
  std::int64_t forget(std::span<const TaskId> ids) override;

 protected:
  std::string keep_store_id(const std::string& id) override;

 private:
  Store& store_;
  TaskAdmin& admin_;
};

}  // namespace holdfast::postgres
