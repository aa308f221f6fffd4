#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "engines/sqlite/handfuls.hpp"
#include "engines/sqlite/statements.hpp"
#include "tasks/enqueue_rules.hpp"

namespace holdfast::sqlite {

namespace {

using LaneName = std::tuple<std::string_view, std::string_view, std::string_view>;

/// The tasks that `task` must wait for, as sequence numbers.
std::vector<std::int64_t> unfinished_dependencies(Connection& db, const NewTask& task) {
  std::vector<std::int64_t> unfinished;
  for (const auto& id : task.options.after) {
    auto find = db.use("SELECT seq, state FROM holdfast_tasks WHERE id = ?");
    find.bind(id);
    if (!find.step()) refuse_unknown_prerequisite(id.text());
    auto state = static_cast<TaskState>(find.integer(1));
    if (state == TaskState::cancelled) refuse_cancelled_prerequisite(id.text());
    if (state != TaskState::completed) unfinished.push_back(find.integer(0));
  }
  return unfinished;
}

/// The id is taken: fine if it is a repetition of the same enqueue.
void expect_same(Connection& db, const NewTask& task, TaskId id) {
  auto find = db.use(
      "SELECT l.kind, l.queue, t.payload FROM holdfast_tasks t JOIN holdfast_lanes l"
      " ON l.lane = t.lane WHERE t.id = ?");
  find.bind(id);
  if (!find.step()) return;
  expect_repetition(
      task, id.text(),
      {std::string{find.text(0)}, std::string{find.text(1)}, std::string{find.text(2)}});
}

bool exists(Connection& db, TaskId id) {
  auto find = db.use("SELECT 1 FROM holdfast_tasks WHERE id = ?");
  return find.bind(id).step();
}

Inserted insert_one(Connection& db, const NewTask& task, TaskId id, std::int64_t lane,
                    WallTime now) {
  const auto& options = task.options;
  bool plain = options.unique_key.empty() && options.after.empty();
  if (!plain && exists(db, id)) {
    // What it waits for may have ended, in whatever way, since it was enqueued; and its own key is
    // no other task's.
    expect_same(db, task, id);
    return {id, false};
  }
  if (!options.unique_key.empty()) {
    auto existing = unfinished_with_key(db, options.unique_key);
    if (existing) return {*existing, false};
  }
  auto waits_for = unfinished_dependencies(db, task);
  auto tags = tags_text(options.tags);
  std::optional<std::string> backoff;
  if (!is_default(options.backoff)) backoff = backoff_text(options.backoff);
  std::optional<std::string_view> key;
  if (!options.unique_key.empty()) key = options.unique_key;

  auto insert = db.use(
      "INSERT INTO holdfast_tasks (id, lane, state, priority, run_at, created_at, max_attempts,"
      " timeout, backoff, unique_key, tags, payload_sum, row_sum, payload)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING");
  auto state = waits_for.empty() ? TaskState::pending : TaskState::blocked;
  auto row = new_row(task, id, lane, now);
  row.state = static_cast<std::int64_t>(state);
  row.payload_sum = payload_sum(task.payload, tags, key, backoff);
  insert.bind(id, lane, state, options.priority, due(options, now), now, options.max_attempts,
              options.timeout, backoff, key, tags, row.payload_sum, row_sum(row), task.payload);
  insert.run();
  if (db.changes() == 0) {
    expect_same(db, task, id);
    return {id, false};
  }
  auto seq = db.last_insert();
  for (auto on : waits_for) {
    db.use("INSERT OR IGNORE INTO holdfast_blocks (on_seq, seq) VALUES (?, ?)").bind(on, seq).run();
  }
  db.counts().add(lane, state);
  return {id, true, state};
}

}  // namespace

std::int64_t lane_of(Connection& db, const std::string& queue, const std::string& kind,
                     const std::string& key) {
  auto find = db.use("SELECT lane FROM holdfast_lanes WHERE queue = ? AND kind = ? AND key = ?");
  find.bind(queue, kind, key);
  if (find.step()) return find.integer(0);
  db.use("INSERT INTO holdfast_lanes (queue, kind, key, sum) VALUES (?, ?, ?, ?)")
      .bind(queue, kind, key, lane_sum(queue, kind, key))
      .run();
  return db.last_insert();
}

std::optional<TaskId> unfinished_with_key(Connection& db, const std::string& key) {
  auto find =
      db.use("SELECT id FROM holdfast_tasks WHERE unique_key = ? AND state IN {unfinished}");
  find.bind(key);
  if (!find.step()) return {};
  return find.task_id(0);
}

std::optional<std::string> tags_text(const std::vector<std::string>& tags) {
  if (tags.empty()) return {};
  boost::json::array list;
  for (const auto& tag : tags) list.emplace_back(tag);
  return boost::json::serialize(list);
}

SummedRow new_row(const NewTask& task, TaskId id, std::int64_t lane, WallTime now) {
  SummedRow row;
  row.id = id;
  row.lane = lane;
  row.priority = task.options.priority;
  row.run_at = due(task.options, now).time_since_epoch().count();
  row.created_at = now.time_since_epoch().count();
  row.max_attempts = task.options.max_attempts;
  row.timeout = task.options.timeout.count();
  return row;
}

WallTime due(const TaskOptions& options, WallTime now) {
  if (options.at) return *options.at;
  return options.delay > Millis{0} ? now + options.delay : WallTime{};
}

std::vector<Inserted> insert_tasks(Connection& db, std::span<const NewTask> tasks, WallTime now) {
  std::map<LaneName, std::int64_t> lanes;
  auto lane_for = [&](const NewTask& task) {
    auto& lane = lanes[{task.options.queue, task.kind, task.options.limit_key}];
    if (lane == 0) lane = lane_of(db, task.options.queue, task.kind, task.options.limit_key);
    return lane;
  };
  std::vector<Inserted> inserted;
  inserted.reserve(tasks.size());
  std::vector<LaneTask> handful;
  auto one_by_one = [&] {
    for (const auto& [task, id, lane] : handful)
      inserted.push_back(insert_one(db, *task, id, lane, now));
    handful.clear();
  };
  for (const auto& task : tasks) {
    handful.push_back({&task, task.options.id ? *task.options.id : TaskId::make(), lane_for(task)});
    if (!is_plain(task)) one_by_one();
    if (handful.size() < tasks_in_handful) continue;
    if (insert_handful(db, std::span{handful}.first<tasks_in_handful>(), now)) {
      for (const auto& one : handful) {
        inserted.push_back({one.id, true});
        db.counts().add(one.lane, TaskState::pending);
      }
      handful.clear();
    } else {
      one_by_one();
    }
  }
  one_by_one();
  return inserted;
}

}  // namespace holdfast::sqlite
