#include "engines/sqlite/task_admin_queues.hpp"

#include <algorithm>
#include <map>

#include "engines/sqlite/task_admin_search.hpp"
#include "tasks/transitions.hpp"

namespace holdfast::sqlite {

namespace {

constexpr int rows_at_once = 20'000;

/// A place in the index of finished tasks.
struct Place {
  std::int64_t time = -1;
  std::int64_t lane = -1;
  std::int64_t seq = -1;
};

/// What is known of each queue so far, found by name or by lane.
class Tally {
 public:
  explicit Tally(Connection& db) {
    auto lanes = db.use("SELECT lane, queue FROM holdfast_lanes");
    while (lanes.step()) queue_of_lane_[lanes.integer(0)] = lanes.text(1);
    auto paused = db.use("SELECT queue FROM holdfast_paused");
    while (paused.step()) of_queue(paused.text(0)).paused = true;
  }

  QueueStatus& of_lane(std::int64_t lane) { return of_queue(queue_of_lane_[lane]); }
  void add(std::int64_t lane, TaskState state, std::int64_t count) {
    of_lane(lane).counts[static_cast<int>(state)] += count;
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
  std::map<std::int64_t, std::string> queue_of_lane_;
  std::map<std::string, QueueStatus> queues_;
};

/// Goes through the index of ready tasks group by group.
void count_pending(Reader& reader, Tally& tally, WallTime now) {
  for (int priority = highest_priority; priority <= lowest_priority; ++priority) {
    reader.read([&](Connection& db) {
      auto query = db.use(
          "SELECT lane, count(*), min(run_at), created_at FROM holdfast_tasks INDEXED BY "
          "holdfast_ready"
          " WHERE state = 0 AND priority = ? GROUP BY lane");
      query.bind(priority);
      while (query.step()) {
        tally.add(query.integer(0), TaskState::pending, query.integer(1));
        auto& oldest = tally.of_lane(query.integer(0)).oldest_pending;
        // The created_at of the row with the smallest run_at, which is 0 if it was ready at once.
        auto ready_since = query.time(query.integer(2) == 0 ? 3 : 2);
        if (ready_since <= now) oldest = std::min(oldest.value_or(ready_since), ready_since);
      }
    });
  }
}

void count_running_and_waiting(Reader& reader, Tally& tally) {
  reader.read([&](Connection& db) {
    auto query = db.use(
        "SELECT lane, 1, count(*) FROM holdfast_tasks WHERE state = 1 GROUP BY lane UNION ALL"
        " SELECT lane, state, count(*) FROM holdfast_tasks WHERE state IN (5, 6)"
        " GROUP BY lane, state");
    while (query.step())
      tally.add(query.integer(0), static_cast<TaskState>(query.integer(1)), query.integer(2));
  });
}

Place read_place(const Statement& row) { return {row.integer(0), row.integer(1), row.integer(2)}; }

/// There may be a million of these, so it reads the index in portions.
void count_finished(Reader& reader, Tally& tally, TaskState state) {
  Place last;
  for (int rows = rows_at_once; rows == rows_at_once;) {
    rows = reader.read([&](Connection& db) {
      auto query = db.use(
          "SELECT finished_at, lane, seq FROM holdfast_tasks INDEXED BY holdfast_finished"
          " WHERE state BETWEEN 2 AND 4 AND state = ? AND (finished_at, lane, seq) > (?, ?, ?)"
          " ORDER BY finished_at, lane, seq LIMIT ?");
      query.bind(state, last.time, last.lane, last.seq, rows_at_once);
      int read = 0;
      for (; query.step(); ++read) {
        last = read_place(query);
        tally.add(last.lane, state, 1);
      }
      return read;
    });
  }
}

/// The place so many rows on; nothing if there are fewer.
std::optional<Place> jump(Connection& db, TaskState state, const Place& from) {
  auto query = db.use(
      "SELECT finished_at, lane, seq FROM holdfast_tasks INDEXED BY holdfast_finished"
      " WHERE state BETWEEN 2 AND 4 AND state = ? AND (finished_at, lane, seq) > (?, ?, ?)"
      " ORDER BY finished_at, lane, seq LIMIT 1 OFFSET ?");
  query.bind(state, from.time, from.lane, from.seq, rows_at_once - 1);
  if (!query.step()) return {};
  return read_place(query);
}

std::int64_t count_after(Connection& db, TaskState state, const Place& from) {
  auto query = db.use(
      "SELECT count(*) FROM holdfast_tasks INDEXED BY holdfast_finished"
      " WHERE state BETWEEN 2 AND 4 AND state = ? AND (finished_at, lane, seq) > (?, ?, ?)");
  query.bind(state, from.time, from.lane, from.seq);
  return query.step() ? query.integer(0) : 0;
}

}  // namespace

std::vector<QueueStatus> queue_statuses(Reader& reader, WallTime now) {
  auto tally = reader.read([](Connection& db) { return Tally{db}; });
  count_pending(reader, tally, now);
  count_running_and_waiting(reader, tally);
  for (auto state : {TaskState::completed, TaskState::failed, TaskState::cancelled})
    count_finished(reader, tally, state);
  return tally.list();
}

std::int64_t count_in_state(Reader& reader, TaskState state) {
  if (!is_finished(state)) {
    return reader.read([&](Connection& db) {
      Connection::Once query{db,
                             "SELECT count(*) FROM holdfast_tasks WHERE " + state_clause(state)};
      return query->step() ? query->integer(0) : 0;
    });
  }
  std::int64_t passed = 0;
  Place last;
  for (;;) {
    auto next = reader.read([&](Connection& db) { return jump(db, state, last); });
    if (!next) break;
    passed += rows_at_once;
    last = *next;
  }
  return passed + reader.read([&](Connection& db) { return count_after(db, state, last); });
}

}  // namespace holdfast::sqlite
