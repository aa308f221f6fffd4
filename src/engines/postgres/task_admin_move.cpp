#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "engines/postgres/statements.hpp"
#include "engines/postgres/task_admin.hpp"
#include "engines/postgres/task_change.hpp"
#include "engines/postgres/task_filter.hpp"
#include "tasks/move_states.hpp"
#include "tasks/transitions.hpp"

namespace holdfast::postgres {

namespace {

constexpr int tasks_at_once = 1'000;

struct Moved {
  std::int64_t count = 0;
  bool ready = false;    ///< some may run now
  bool stopped = false;  ///< some that are running are to stop
  std::vector<TaskChanged> changes{};
};

/// One move of many tasks, inside a transaction.
class Moving {
 public:
  Moving(Connection& db, const TaskAdmin::Move& move) : db_{db}, move_{move} {}

  Moved run(const std::vector<TaskId>& ids) {
    auto tasks = lock(ids);
    auto taken = taken_keys(tasks);
    for (auto& task : tasks) {
      task.row.key_taken = taken.contains(task.unique_key);
      const auto change = lifecycle::move(task.row, move_, task.now);
      if (!change) continue;
      note(task, *change);
      if (!task.unique_key.empty()) taken.insert(task.unique_key);
    }
    changes_.queue(db_);
    for (auto& one : end_dependents(db_, std::move(ended_)))
      if (move_.on_change) moved_.changes.push_back(std::move(one));
    return std::move(moved_);
  }

 private:
  std::vector<FoundTask> lock(const std::vector<TaskId>& ids) {
    auto rows = db_.run("SELECT" HOLDFAST_FOUND_TASK
                        "FROM hf.tasks t WHERE t.id = ANY($1) ORDER BY t.id FOR UPDATE",
                        ids);
    std::vector<FoundTask> tasks;
    while (rows.next()) tasks.push_back(read_found(rows));
    return tasks;
  }

  /// Keys that other unfinished tasks have by now: running both would break what a key promises.
  std::set<std::string> taken_keys(const std::vector<FoundTask>& tasks) {
    std::vector<std::string> keys;
    for (const auto& task : tasks)
      if (is_finished(task.row.state) && !task.unique_key.empty()) keys.push_back(task.unique_key);
    std::set<std::string> taken;
    if (keys.empty()) return taken;
    auto found = db_.run(
        "SELECT unique_key FROM hf.tasks WHERE unique_key = ANY($1) AND unique_key IS NOT NULL"
        " AND state IN {unfinished}",
        keys);
    while (found.next()) taken.insert(found.text(0));
    return taken;
  }

  void note(const FoundTask& task, const TaskChange& change) {
    changes_.add(db_, task, change);
    ended_.push_back({task.row.id, change.to, move_.actor});
    ++moved_.count;
    moved_.ready |= change.to == TaskState::pending;
    moved_.stopped |= task.row.state == TaskState::running;
    if (move_.on_change && change.to != task.row.state)
      moved_.changes.push_back(told(task, change));
  }

  Connection& db_;
  const TaskAdmin::Move& move_;
  Moved moved_;
  TaskChanges changes_;
  std::vector<EndedTask> ended_;
};

/// The next tasks that match, after `last` in the order of ids.
std::vector<TaskId> next_ids(Connection& db, const TaskFilter& filter, TaskId last) {
  Condition condition{filter};
  auto after = condition.name(to_value(last));
  auto rows = db.run_once(fmt::format("SELECT t.id FROM hf.tasks t WHERE {} AND t.id > {}"
                                      " ORDER BY t.id LIMIT {}",
                                      condition.sql, after, tasks_at_once),
                          condition.values);
  std::vector<TaskId> ids;
  while (rows.next()) ids.push_back(rows.task_id(0));
  return ids;
}

}  // namespace

std::int64_t PostgresTaskAdmin::move(const TaskFilter& filter, const Move& move) {
  auto wanted = filter;
  wanted.states = states_to_look_for(filter, move);
  if (wanted.states.empty()) return 0;
  Moved total;
  TaskId last{};
  for (;;) {
    auto ids = store_.reader.read([&](Connection& db) { return next_ids(db, wanted, last); });
    if (ids.empty()) break;
    last = ids.back();
    auto moved = store_.writer.write({KillPoint::move_before_commit, KillPoint::move_after_commit},
                                     [&](Connection& db) {
                                       return Moving{db, move}.run(ids);
                                     });
    for (const auto& change : moved.changes)
      move.on_change(change.id, change.kind, change.transition);
    total.count += moved.count;
    total.ready |= moved.ready;
    total.stopped |= moved.stopped;
  }
  if (total.ready) store_.session.announce_work();
  if (total.stopped) store_.session.announce_control();
  return total.count;
}

}  // namespace holdfast::postgres
