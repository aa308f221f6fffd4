#include "engines/sqlite/task_admin_queues.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace holdfast::sqlite {

namespace {

/// What is known of each queue so far, found by name or by lane.
class Tally {
 public:
  explicit Tally(Connection& db) {
    auto lanes = db.use("SELECT lane, queue FROM holdfast_lanes");
    while (lanes.step()) lanes_[lanes.integer(0)].queue = lanes.text(1);
    auto counts = db.use("SELECT lane, state, tasks FROM holdfast_counts WHERE tasks <> 0");
    while (counts.step()) {
      auto state = counts.integer(1);
      bool known = state >= 0 && state < task_state_count;  // otherwise the page is damaged
      if (known) of_lane(counts.integer(0)).counts[state] += counts.integer(2);
    }
    auto paused = db.use("SELECT queue FROM holdfast_paused");
    while (paused.step()) of_queue(paused.text(0)).paused = true;
  }

  QueueStatus& of_lane(std::int64_t lane) {
    auto& known = lanes_[lane];
    if (!known.status) known.status = &of_queue(known.queue);
    return *known.status;
  }
  std::vector<QueueStatus> list() const {
    std::vector<QueueStatus> all;
    for (const auto& [name, status] : queues_) all.push_back(status);
    return all;
  }

 private:
  QueueStatus& of_queue(const std::string& name) {
    auto& status = queues_[name];
    status.queue = name;
    return status;
  }

  struct Lane {
    std::string queue;
    QueueStatus* status = nullptr;  ///< where its tasks are counted: looked up once
  };
  std::unordered_map<std::int64_t, Lane> lanes_;
  std::map<std::string, QueueStatus> queues_;
};

/// Ready tasks of one priority in one lane: next to each other in their index.
struct Group {
  int priority = highest_priority;
  std::int64_t lane = -1;
};

/// The next group that is not empty. Asks for `>=` the next lane: see claim.cpp.
std::optional<Group> next_group(Connection& db, Group last) {
  for (; last.priority <= lowest_priority; last = {last.priority + 1, -1}) {
    auto query = db.use(
        "SELECT lane FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = {pending}"
        " AND priority = ? AND lane >= ? ORDER BY lane LIMIT 1");
    if (query.bind(last.priority, last.lane + 1).step())
      return Group{last.priority, query.integer(0)};
  }
  return {};
}

/// Since when the oldest of a group is ready.
std::optional<WallTime> ready_since(Connection& db, const Group& group, bool suspects) {
  auto query = db.use(
      "SELECT run_at, created_at FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = "
      "{pending}"
      " AND priority = ? AND lane = ? AND suspect = ? ORDER BY run_at, seq LIMIT 1");
  if (!query.bind(group.priority, group.lane, suspects).step()) return {};
  // The time is 0 if it was ready at once.
  return query.time(query.integer(0) == 0 ? 1 : 0);
}

}  // namespace

std::vector<QueueStatus> queue_statuses(Reader& reader, WallTime now) {
  auto tally = reader.read([](Connection& db) { return Tally{db}; });
  for (std::optional<Group> group = Group{};;) {
    // A read for each: there may be many, and the WAL cannot start anew while one goes on.
    group = reader.read([&](Connection& db) { return next_group(db, *group); });
    if (!group) return tally.list();
    auto& oldest = tally.of_lane(group->lane).oldest_pending;
    for (bool suspects : {false, true}) {
      auto since = reader.read([&](Connection& db) { return ready_since(db, *group, suspects); });
      if (since && *since <= now) oldest = std::min(oldest.value_or(*since), *since);
    }
  }
}

std::int64_t count_tasks(Connection& db, std::span<const TaskState> states,
                         const std::optional<std::string>& lanes) {
  std::vector<int> numbers;
  for (auto state : states) numbers.push_back(static_cast<int>(state));
  auto query = db.use(
      "SELECT coalesce(sum(tasks), 0) FROM holdfast_counts WHERE (?1 IS NULL OR lane IN"
      " (SELECT value FROM json_each(?1))) AND (?2 = '[]' OR state IN (SELECT value FROM"
      " json_each(?2)))");
  const auto wanted = fmt::format("[{}]", fmt::join(numbers, ","));
  query.bind(lanes, wanted);
  return query.step() ? query.integer(0) : 0;
}

}  // namespace holdfast::sqlite
