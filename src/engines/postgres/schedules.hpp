#pragma once

#include "engines/postgres/store.hpp"
#include "tasks/schedule_store.hpp"

namespace holdfast::postgres {

class PostgresScheduleStore final : public ScheduleStore {
 public:
  explicit PostgresScheduleStore(Store& store) : store_{store} {}

  std::vector<Schedule> list() override;
  std::vector<Schedule> due(WallTime until, int limit) override;
  std::vector<AppliedChange> apply(std::span<const ScheduleChange> changes) override;
  bool remove(const std::string& name) override;

 private:
  Store& store_;
};

}  // namespace holdfast::postgres
