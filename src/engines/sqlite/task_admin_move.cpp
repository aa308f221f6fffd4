#include "engines/sqlite/task_admin_move.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "engines/sqlite/task_admin_search.hpp"
#include "engines/sqlite/task_change.hpp"
#include "tasks/move_states.hpp"
#include "tasks/transitions.hpp"

namespace holdfast::sqlite {

namespace {

constexpr std::size_t tasks_at_once = 1'000;

/// Another unfinished task has the key by now: running both would break what it promises.
bool key_is_taken(Connection& db, const FoundTask& task) {
  if (task.unique_key.empty() || !is_finished(task.row.state)) return false;
  auto find = db.use(
      "SELECT 1 FROM holdfast_tasks WHERE unique_key = ? AND unique_key IS NOT NULL"
      " AND state IN {unfinished}");
  return find.bind(task.unique_key).step();
}

/// Moves a task, inside a transaction.
void move_one(Connection& db, TaskId id, const TaskAdmin::Move& move, WallTime now,
              std::int64_t token_floor, Moved& moved) {
  auto task = find_task(db, id);
  if (!task) return;
  task->row.key_taken = key_is_taken(db, *task);
  const auto change = lifecycle::move(task->row, move, now);
  if (!change) return;
  apply_change(db, *task, *change, token_floor);
  auto dependents = end_dependents(db, task->seq, {id, change->to, move.actor}, now);
  ++moved.count;
  moved.ready |= change->to == TaskState::pending;
  moved.stopped |= task->row.state == TaskState::running;
  if (!move.on_change || change->to == task->row.state) return;
  moved.changes.push_back(told(*task, *change));
  std::ranges::move(dependents, std::back_inserter(moved.changes));
}

}  // namespace

Moved move_tasks(Store& store, const TaskFilter& filter, const TaskAdmin::Move& move) {
  auto wanted = filter;
  wanted.states = states_to_look_for(filter, move);
  Moved total;
  if (wanted.states.empty()) return total;
  TaskSearch search{store.reader, wanted};
  search.each(TaskSearch::Order::oldest_first, [&](const std::vector<TaskSearch::Found>& found) {
    for (std::size_t done = 0; done < found.size(); done += tasks_at_once) {
      auto some = std::span{found}.subspan(done, std::min(tasks_at_once, found.size() - done));
      auto moved = store.writer.write(
          {KillPoint::move_before_commit, KillPoint::move_after_commit}, [&](Connection& db) {
            Moved some_moved;
            for (const auto& task : some)
              move_one(db, task.id, move, store.clock.wall(), store.token_floor(), some_moved);
            return some_moved;
          });
      for (const auto& change : moved.changes)
        move.on_change(change.id, change.kind, change.transition);
      total.count += moved.count;
      total.ready |= moved.ready;
      total.stopped |= moved.stopped;
    }
    return true;
  });
  return total;
}

}  // namespace holdfast::sqlite
