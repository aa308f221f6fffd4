#include "engines/sqlite/task_admin_queues.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

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
    while (lanes.step()) lanes_[lanes.integer(0)].queue = lanes.text(1);
    auto paused = db.use("SELECT queue FROM holdfast_paused");
    while (paused.step()) of_queue(paused.text(0)).paused = true;
  }

  QueueStatus& of_lane(std::int64_t lane) {
    auto& known = lanes_[lane];
    if (!known.status) known.status = &of_queue(known.queue);
    return *known.status;
  }
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

/// A place within a group.
struct ReadyPlace {
  std::int64_t suspect = -1;
  std::int64_t run_at = -1;
  std::int64_t seq = -1;
};

/// The next group that is not empty.
std::optional<Group> next_group(Connection& db, Group last) {
  for (; last.priority <= lowest_priority; last = {last.priority + 1, -1}) {
    auto query = db.use(
        "SELECT lane FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = 0"
        " AND priority = ? AND lane > ? ORDER BY lane LIMIT 1");
    if (query.bind(last.priority, last.lane).step()) return Group{last.priority, query.integer(0)};
  }
  return {};
}

/// Since when the oldest of a group is ready.
std::optional<WallTime> ready_since(Connection& db, const Group& group, bool suspects) {
  auto query = db.use(
      "SELECT run_at, created_at FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = 0"
      " AND priority = ? AND lane = ? AND suspect = ? ORDER BY run_at, seq LIMIT 1");
  if (!query.bind(group.priority, group.lane, suspects).step()) return {};
  // The time is 0 if it was ready at once.
  return query.time(query.integer(0) == 0 ? 1 : 0);
}

/// Of those with the same times, a portion is counted by number: SQLite finds a number behind equal
/// columns of an index, but not behind a range of them.
std::int64_t count_equal(Connection& db, const Group& group, ReadyPlace& place) {
  {
    auto jump = db.use(
        "SELECT seq FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = 0 AND priority = ?"
        " AND lane = ? AND suspect = ? AND run_at = ? AND seq > ? ORDER BY seq LIMIT 1 OFFSET ?");
    jump.bind(group.priority, group.lane, place.suspect, place.run_at, place.seq, rows_at_once - 1);
    if (jump.step()) {
      place.seq = jump.integer(0);
      return rows_at_once;
    }
  }
  auto rest = db.use(
      "SELECT count(*) FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = 0"
      " AND priority = ? AND lane = ? AND suspect = ? AND run_at = ? AND seq > ?");
  rest.bind(group.priority, group.lane, place.suspect, place.run_at, place.seq).step();
  return rest.integer(0);
}

/// Counts a portion of a group and moves on; less than a whole portion is the last.
std::int64_t count_some(Connection& db, const Group& group, ReadyPlace& place) {
  auto equal = count_equal(db, group, place);
  if (equal == rows_at_once) return equal;
  {
    auto jump = db.use(
        "SELECT suspect, run_at, seq FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = 0"
        " AND priority = ? AND lane = ? AND (suspect, run_at) > (?, ?)"
        " ORDER BY suspect, run_at, seq LIMIT 1 OFFSET ?");
    jump.bind(group.priority, group.lane, place.suspect, place.run_at, rows_at_once - 1 - equal);
    if (jump.step()) {
      place = {jump.integer(0), jump.integer(1), jump.integer(2)};
      return rows_at_once;
    }
  }
  auto rest = db.use(
      "SELECT count(*) FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = 0"
      " AND priority = ? AND lane = ? AND (suspect, run_at) > (?, ?)");
  rest.bind(group.priority, group.lane, place.suspect, place.run_at).step();
  return equal + rest.integer(0);
}

/// There may be millions, and the WAL cannot start anew while one read goes on: many short ones.
template <class F>
void each_pending_group(Reader& reader, F tell) {
  for (std::optional<Group> group = Group{};;) {
    group = reader.read([&](Connection& db) { return next_group(db, *group); });
    if (!group) return;
    std::int64_t count = 0;
    ReadyPlace place;
    for (std::int64_t some = rows_at_once; some == rows_at_once; count += some)
      some = reader.read([&](Connection& db) { return count_some(db, *group, place); });
    tell(*group, count);
  }
}

void count_pending(Reader& reader, Tally& tally, WallTime now) {
  each_pending_group(reader, [&](const Group& group, std::int64_t count) {
    tally.add(group.lane, TaskState::pending, count);
    auto& oldest = tally.of_lane(group.lane).oldest_pending;
    for (bool suspects : {false, true}) {
      auto since = reader.read([&](Connection& db) { return ready_since(db, group, suspects); });
      if (since && *since <= now) oldest = std::min(oldest.value_or(*since), *since);
    }
  });
}

void count_running(Reader& reader, Tally& tally) {
  reader.read([&](Connection& db) {
    auto query = db.use("SELECT lane, count(*) FROM holdfast_tasks WHERE state = 1 GROUP BY lane");
    while (query.step()) tally.add(query.integer(0), TaskState::running, query.integer(1));
  });
}

void count_waiting(Reader& reader, Tally& tally, TaskState state) {
  std::int64_t last = -1;
  for (int rows = rows_at_once; rows == rows_at_once;) {
    rows = reader.read([&](Connection& db) {
      auto query = db.use(
          "SELECT lane, seq FROM holdfast_tasks INDEXED BY holdfast_waiting"
          " WHERE state IN (5, 6) AND state = ? AND seq > ? ORDER BY seq LIMIT ?");
      query.bind(state, last, rows_at_once);
      int read = 0;
      for (; query.step(); ++read) {
        tally.add(query.integer(0), state, 1);
        last = query.integer(1);
      }
      return read;
    });
  }
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
  count_running(reader, tally);
  for (auto state : {TaskState::blocked, TaskState::held}) count_waiting(reader, tally, state);
  for (auto state : {TaskState::completed, TaskState::failed, TaskState::cancelled})
    count_finished(reader, tally, state);
  return tally.list();
}

std::int64_t count_in_state(Reader& reader, TaskState state) {
  if (state == TaskState::pending) {
    std::int64_t all = 0;
    each_pending_group(reader, [&](const Group&, std::int64_t count) { all += count; });
    return all;
  }
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
