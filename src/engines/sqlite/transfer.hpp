#pragma once

#include "engines/sqlite/store.hpp"
#include "tasks/task_transfer.hpp"

namespace holdfast::sqlite {

class SqliteTaskTransfer final : public TaskTransfer {
 public:
  SqliteTaskTransfer(Store& store, TaskAdmin& admin) : store_{store}, admin_{admin} {}

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

/// Throws `StoreMoved` if nothing may be inserted any more.
void expect_not_moved(const Store& store, Connection& db);

}  // namespace holdfast::sqlite
