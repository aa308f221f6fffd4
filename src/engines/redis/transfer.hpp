#pragma once

#include "engines/redis/store.hpp"
#include "tasks/task_transfer.hpp"

namespace holdfast::redis {

class RedisTaskTransfer final : public TaskTransfer {
 public:
  explicit RedisTaskTransfer(Store& store) : store_{store} {}

  std::optional<MoveNote> note() override;
  void set_note(const std::optional<MoveNote>& note) override;
  std::vector<Parcel> pack(std::span<const TaskId> ids) override;
  std::vector<Adopted> adopt(std::span<const Parcel> parcels) override;
  std::int64_t forget(std::span<const TaskId> ids) override;

 protected:
  std::string keep_store_id(const std::string& id) override;

 private:
  Store& store_;
};

}  // namespace holdfast::redis
