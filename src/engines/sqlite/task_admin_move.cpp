#include "engines/sqlite/task_admin_move.hpp"

#include <algorithm>
#include <span>

#include "engines/sqlite/row_sum.hpp"
#include "engines/sqlite/task_admin_search.hpp"
#include "tasks/move_states.hpp"
#include "tasks/transitions.hpp"

namespace holdfast::sqlite {

namespace {

constexpr std::size_t tasks_at_once = 1'000;

bool contains(const std::vector<TaskState>& states, TaskState state) {
  return std::find(states.begin(), states.end(), state) != states.end();
}

struct MovedRow {
  std::int64_t seq = 0;
  std::int64_t lane = 0;
  TaskState state = TaskState::pending;
  Token token{};
  int attempt = 0;
  std::optional<WallTime> claimed_at{};
  std::optional<WorkerId> worker{};
  std::string unique_key;
};

std::optional<MovedRow> find_moved(Connection& db, TaskId id) {
  auto find = db.use(
      "SELECT t.seq, t.state, t.token, t.attempt, t.claimed_at, w.id, t.unique_key, t.lane"
      " FROM holdfast_tasks t LEFT JOIN holdfast_workers w ON w.seq = t.owner WHERE t.id = ?");
  if (!find.bind(id).step()) return {};
  MovedRow row;
  row.seq = find.integer(0);
  row.state = static_cast<TaskState>(find.integer(1));
  row.token = Token{find.integer(2)};
  row.attempt = static_cast<int>(find.integer(3));
  row.claimed_at = find.optional_time(4);
  if (!find.is_null(5)) row.worker = find.worker_id(5);
  row.unique_key = find.text(6);
  row.lane = find.integer(7);
  return row;
}

/// One move of many tasks, inside a transaction.
class Moving {
 public:
  Moving(Connection& db, const TaskAdmin::Move& move, WallTime now, std::int64_t token_floor)
      : db_{db}, move_{move}, now_{now}, token_floor_{token_floor} {}

  void move(TaskId id) {
    auto row = find_moved(db_, id);
    if (!row) return;
    if (row->state == TaskState::running && move_.ask_running) {
      ask_to_stop(*row);
      return;
    }
    auto to = target(*row);
    if (!contains(move_.from, row->state) || !allowed(row->state, to, Mover::person)) return;
    if (is_finished(row->state) && !is_finished(to) && key_is_taken(*row)) return;
    apply(*row, to);
  }

  const Moved& moved() const { return moved_; }

 private:
  void ask_to_stop(const MovedRow& row) {
    db_.use(
           "UPDATE holdfast_tasks SET cancel_requested = 1 WHERE seq = ? AND state = 1"
           " AND cancel_requested = 0")
        .bind(row.seq)
        .run();
    if (db_.changes() == 0) return;
    seal(db_, row.seq);
    add_history(db_, {.task = row.seq,
                      .from = row.state,
                      .to = row.state,
                      .actor = move_.actor,
                      .reason = reason_to_stop,
                      .token = row.token,
                      .attempt = row.attempt,
                      .claimed_at = row.claimed_at,
                      .worker = row.worker,
                      .at = now_});
    ++moved_.count;
    moved_.stopped = true;
  }

  TaskState target(const MovedRow& row) {
    if (move_.to != TaskState::pending) return move_.to;
    auto waits = db_.use("SELECT 1 FROM holdfast_blocks WHERE seq = ? LIMIT 1");
    return waits.bind(row.seq).step() ? TaskState::blocked : TaskState::pending;
  }

  /// Another unfinished task has the key by now: running both would break what it promises.
  bool key_is_taken(const MovedRow& row) {
    if (row.unique_key.empty()) return false;
    auto find = db_.use(
        "SELECT 1 FROM holdfast_tasks WHERE unique_key = ? AND unique_key IS NOT NULL"
        " AND state IN (0, 1, 5, 6)");
    return find.bind(row.unique_key).step();
  }

  void apply(const MovedRow& row, TaskState to) {
    bool was_running = row.state == TaskState::running;
    bool runs_again = !is_finished(to) && to != TaskState::held;
    Token token{was_running ? std::max(row.token.value + 1, token_floor_) : row.token.value};
    bool fresh = move_.fresh_attempts;
    std::optional<WallTime> finished_at, run_at;
    std::optional<std::string_view> cause, error;
    if (is_finished(to)) finished_at = now_, error = move_.reason;
    if (to == TaskState::held) cause = move_.reason;
    // At once, whatever the clock does; but one whose time had not come may still wait for it.
    bool put_by = row.state == TaskState::held && row.attempt == 0;
    if (to == TaskState::pending && !put_by) run_at = WallTime{};
    db_.use(
           "UPDATE holdfast_tasks SET state = ?2, token = ?3, run_at = coalesce(?4, run_at),"
           " finished_at = ?5, attempt = iif(?6, 0, attempt), crashes = iif(?6, 0, crashes),"
           " suspect = iif(?6, 0, suspect), cause = ?7, result = NULL, cancel_requested = 0,"
           " lease_until = NULL, error = CASE WHEN ?6 AND ?9 THEN NULL ELSE coalesce(?8, error) END"
           " WHERE seq = ?1")
        .bind(row.seq, to, token, run_at, finished_at, fresh, cause, error, runs_again)
        .run();
    seal(db_, row.seq);
    db_.counts().move(row.lane, row.state, to);
    if (runs_again) db_.use("DELETE FROM holdfast_progress WHERE task = ?").bind(row.seq).run();
    add_history(db_, {.task = row.seq,
                      .from = row.state,
                      .to = to,
                      .actor = move_.actor,
                      .reason = move_.reason,
                      .token = row.token,
                      .attempt = fresh ? 0 : row.attempt,
                      .claimed_at = was_running ? row.claimed_at : std::nullopt,
                      .worker = was_running ? row.worker : std::nullopt,
                      .at = now_});
    note_change(row.seq, {row.state, to, move_.actor, move_.reason, row.token,
                          fresh ? 0 : row.attempt, now_});
    if (to == TaskState::cancelled) {
      for (auto& change : cancel_dependents(db_, row.seq, now_, move_.actor))
        if (move_.on_change) moved_.changes.push_back(std::move(change));
    }
    ++moved_.count;
    moved_.ready |= to == TaskState::pending;
    moved_.stopped |= was_running;
  }

  void note_change(std::int64_t seq, Transition step) {
    if (!move_.on_change) return;
    auto find = db_.use(
        "SELECT t.id, l.kind FROM holdfast_tasks t JOIN holdfast_lanes l USING (lane)"
        " WHERE t.seq = ?");
    if (!find.bind(seq).step()) return;
    moved_.changes.push_back({find.task_id(0), find.text(1), std::move(step)});
  }

  Connection& db_;
  const TaskAdmin::Move& move_;
  WallTime now_;
  std::int64_t token_floor_;
  Moved moved_;
};

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
            Moving moving{db, move, store.clock.wall(), store.token_floor()};
            for (const auto& task : some) moving.move(task.id);
            return moving.moved();
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
