#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "engines/postgres/statements.hpp"
#include "engines/postgres/task_admin.hpp"
#include "engines/postgres/task_filter.hpp"
#include "tasks/move_states.hpp"
#include "tasks/transitions.hpp"

namespace holdfast::postgres {

namespace {

constexpr int tasks_at_once = 1'000;

bool contains(const std::vector<TaskState>& states, TaskState state) {
  return std::ranges::count(states, state) > 0;
}

struct Moved {
  std::int64_t count = 0;
  bool ready = false;    ///< some may run now
  bool stopped = false;  ///< some that are running are to stop
  std::vector<TaskChanged> changes{};
};

struct Row {
  TaskId id{};
  TaskState state = TaskState::pending;
  Token token{};
  int attempt = 0;
  std::optional<WallTime> claimed_at{};
  std::optional<WorkerId> worker{};
  std::string unique_key{};
  std::string kind{};
  std::string queue{};
  bool waits = false;  ///< for others
};

/// One move of many tasks, inside a transaction.
class Moving {
 public:
  Moving(Connection& db, const TaskAdmin::Move& move) : db_{db}, move_{move} {}

  Moved run(const std::vector<TaskId>& ids) {
    auto rows = lock(ids);
    auto taken = taken_keys(rows);
    std::vector<TaskId> asked;
    for (const auto& row : rows) {
      if (row.state == TaskState::running && move_.ask_running) {
        asked.push_back(row.id);
        continue;
      }
      auto to = move_.to == TaskState::pending && row.waits ? TaskState::blocked : move_.to;
      if (!contains(move_.from, row.state) || !allowed(row.state, to, Mover::person)) continue;
      bool comes_back = is_finished(row.state) && !is_finished(to);
      if (comes_back && !row.unique_key.empty() && !taken.insert(row.unique_key).second) continue;
      note(row, to);
    }
    if (!asked.empty()) ask_to_stop(asked);
    if (ids_.size() > 0) apply();
    return std::move(moved_);
  }

 private:
  std::vector<Row> lock(const std::vector<TaskId>& ids) {
    auto found = db_.run(
        "SELECT t.id, t.state, t.token, t.attempt, t.claimed_at, t.owner, t.unique_key, t.kind, "
        "t.queue,"
        " EXISTS (SELECT 1 FROM hf.blocks b WHERE b.task = t.id), {wall} FROM hf.tasks t"
        " WHERE t.id = ANY($1) ORDER BY t.id FOR UPDATE",
        ids);
    std::vector<Row> rows;
    while (found.next()) {
      rows.push_back({found.task_id(0), found.state(1), Token{found.integer(2)}, found.small(3),
                      found.optional_time(4), found.optional_worker(5), found.text(6),
                      found.text(7), found.text(8), found.yes(9)});
      now_ = found.time(10);
    }
    return rows;
  }

  /// Keys that other unfinished tasks have by now: running both would break what a key promises.
  std::set<std::string> taken_keys(const std::vector<Row>& rows) {
    std::vector<std::string> keys;
    for (const auto& row : rows)
      if (is_finished(row.state) && !row.unique_key.empty()) keys.push_back(row.unique_key);
    std::set<std::string> taken;
    if (keys.empty()) return taken;
    auto found = db_.run(
        "SELECT unique_key FROM hf.tasks WHERE unique_key = ANY($1) AND unique_key IS NOT NULL"
        " AND state IN (0, 1, 5, 6)",
        keys);
    while (found.next()) taken.insert(found.text(0));
    return taken;
  }

  void ask_to_stop(const std::vector<TaskId>& ids) {
    auto rows = db_.run(
        "WITH asked AS (UPDATE hf.tasks SET cancel_requested = true WHERE id = ANY($1)"
        " AND state = 1 AND NOT cancel_requested RETURNING id, token, attempt, claimed_at, owner)"
        " INSERT INTO hf.history (task, from_state, to_state, actor, reason, token, attempt,"
        " claimed_at, worker, at) SELECT id, 1, 1, $2, $3, token, attempt, claimed_at, owner,"
        " {wall} FROM asked",
        ids, move_.actor, reason_to_stop);
    moved_.count += rows.changed();
    moved_.stopped |= rows.changed() > 0;
  }

  void note(const Row& row, TaskState to) {
    bool was_running = row.state == TaskState::running;
    auto attempt = move_.fresh_attempts ? 0 : row.attempt;
    ids_.add(row.id);
    to_.add(to);
    db_.counts().move(row.queue, row.state, to);
    if (to == TaskState::cancelled) cancelled_.push_back(row.id);
    moved_ids_.push_back(row.id);
    history_.add({.task = row.id,
                  .from = row.state,
                  .to = to,
                  .actor = move_.actor,
                  .reason = move_.reason,
                  .token = row.token,
                  .attempt = attempt,
                  .claimed_at = was_running ? row.claimed_at : std::nullopt,
                  .worker = was_running ? row.worker : std::nullopt});
    if (move_.on_change)
      moved_.changes.push_back(
          {row.id, row.kind, {row.state, to, move_.actor, move_.reason, row.token, attempt, now_}});
    ++moved_.count;
    moved_.ready |= to == TaskState::pending;
    moved_.stopped |= was_running;
  }

  void apply() {
    db_.queue(
        "UPDATE hf.tasks t SET state = m.to_state, token = CASE WHEN t.state = 1 THEN"
        " greatest(t.token + 1, {micros}) ELSE t.token END, run_at = CASE WHEN m.to_state = 0 AND "
        "NOT"
        " (t.state = 6 AND t.attempt = 0) THEN 0 ELSE t.run_at END, finished_at = CASE WHEN "
        "m.to_state IN (2, 3, 4) THEN {wall} END,"
        " attempt = CASE WHEN $3 THEN 0 ELSE t.attempt END, crashes = CASE WHEN $3 THEN 0 ELSE"
        " t.crashes END, suspect = t.suspect AND NOT $3, cause = CASE WHEN m.to_state = 6 THEN $4"
        " END, result = NULL, cancel_requested = false, lease_until = NULL, error = CASE WHEN $3"
        " AND m.to_state IN (0, 5) THEN NULL WHEN m.to_state IN (2, 3, 4) THEN $4 ELSE t.error END"
        " FROM unnest($1::uuid[], $2::bigint[]) AS m(id, to_state) WHERE t.id = m.id",
        ids_.value(), to_.value(), move_.fresh_attempts, move_.reason);
    if (move_.to == TaskState::pending)
      db_.queue("DELETE FROM hf.progress WHERE task = ANY($1)", moved_ids_);
    history_.queue(db_);
    if (cancelled_.empty()) return;
    for (auto& one : cancel_dependents(db_, cancelled_, move_.actor))
      if (move_.on_change) moved_.changes.push_back(std::move(one));
  }

  Connection& db_;
  const TaskAdmin::Move& move_;
  WallTime now_{};
  Moved moved_;
  Array ids_{Type::uuid}, to_{Type::bigint};
  std::vector<TaskId> moved_ids_, cancelled_;
  HistoryRows history_;
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
