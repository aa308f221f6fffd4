#pragma once

#include "engines/redis/store.hpp"
#include "tasks/task_admin.hpp"

namespace holdfast::redis {

class RedisTaskAdmin final : public TaskAdmin {
 public:
  explicit RedisTaskAdmin(Store& store) : store_{store} {}

  std::vector<TaskRecord> search(const TaskFilter& filter, const TaskPage& page) override;
  std::int64_t count(const TaskFilter& filter, const std::function<bool()>& go_on) override;
  std::vector<QueueStatus> queues() override;
  std::vector<std::string> paused() override;
  using TaskAdmin::recorded_history;
  std::vector<RecordedTransition> recorded_history(TaskId id, Stretch stretch) override;
  std::int64_t recorded_steps(TaskId id) override;
  std::vector<LogLine> logs(TaskId id, std::int64_t skip, int most) override;
  std::int64_t move(const TaskFilter& filter, const Move& move) override;
  void set_paused(const std::string& queue, bool paused, const std::string& actor) override;
  using TaskAdmin::prune;
  Pruned prune(const Settings::Retention& retention, int limit) override;

 private:
  std::int64_t move_some(std::span<const TaskId> ids, const Move& move);
  std::vector<TaskId> move_once(std::span<const TaskId> ids, const Move& move, std::int64_t& moved);

  Store& store_;
};

}  // namespace holdfast::redis
