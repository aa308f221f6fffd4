#include "engines/postgres/adopting.hpp"

#include <map>
#include <set>

#include <fmt/format.h>

#include "engines/postgres/task_change.hpp"
#include "recovery/backoff.hpp"
#include "tasks/transitions.hpp"

namespace holdfast::postgres {

namespace {

/// So many go to the server before its answers are read.
constexpr std::size_t sent_at_once = 50;

/// Nothing instead of an empty text.
std::optional<std::string> unless_empty(const std::string& text) {
  if (text.empty()) return {};
  return text;
}

/// What is in the store, and what has been adopted meanwhile.
struct Known {
  std::set<TaskId> there{};
  std::map<TaskId, TaskState> waited_for{};
  std::set<std::string> keys{};  ///< of unfinished tasks
};

Known look(Connection& db, std::span<const Parcel> parcels) {
  std::vector<TaskId> ids, waits;
  std::vector<std::string> keys;
  for (const auto& [task, backoff, history, logs, effects] : parcels) {
    ids.push_back(task.id);
    waits.insert(waits.end(), task.waits_for.begin(), task.waits_for.end());
    if (!task.unique_key.empty()) keys.push_back(task.unique_key);
  }
  Known known;
  auto rows = db.run("SELECT id FROM hf.tasks WHERE id = ANY($1)", ids);
  while (rows.next()) known.there.insert(rows.task_id(0));
  auto states =
      db.run("SELECT id, state FROM hf.tasks WHERE id = ANY($1) ORDER BY id FOR SHARE", waits);
  while (states.next()) known.waited_for[states.task_id(0)] = states.state(1);
  auto taken = db.run(
      "SELECT unique_key FROM hf.tasks WHERE unique_key = ANY($1) AND unique_key IS NOT NULL"
      " AND state IN {unfinished}",
      keys);
  while (taken.next()) known.keys.insert(taken.text(0));
  return known;
}

std::vector<TaskId> unfinished(const Known& known, const TaskRecord& task) {
  std::vector<TaskId> waits;
  for (const auto& id : task.waits_for) {
    auto found = known.waited_for.find(id);
    if (found == known.waited_for.end())
      throw InvalidRequest{fmt::format("task {} waits for {}, which is not in this store",
                                       task.id.text(), id.text())};
    if (found->second != TaskState::completed) waits.push_back(id);
  }
  return waits;
}

void queue_task(Connection& db, const Parcel& parcel, TaskState state) {
  const auto& task = parcel.task;
  std::optional<std::string> backoff;
  if (!is_default(parcel.backoff)) backoff = backoff_text(parcel.backoff);
  db.queue(
      "INSERT INTO hf.tasks (id, queue, kind, state, priority, run_at, token, finished_at, attempt,"
      " recoveries, crashes, suspect, created_at, max_attempts, timeout, backoff, unique_key,"
      " limit_key, keyed, tags, error, cause, result, payload)"
      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,"
      " $19, CASE WHEN cardinality($20::text[]) > 0 THEN $20 END, $21, $22, $23, $24)",
      task.id, task.queue, task.kind, state, task.priority,
      task.run_at <= task.created_at ? WallTime{} : task.run_at, task.token, task.finished_at,
      task.attempt, task.recoveries, task.crashes, task.suspect, task.created_at, task.max_attempts,
      task.timeout, backoff, unless_empty(task.unique_key), unless_empty(task.limit_key),
      !task.limit_key.empty(), task.tags, unless_empty(task.error), unless_empty(task.cause),
      unless_empty(task.result), task.payload);
}

void queue_belongings(Connection& db, const Parcel& parcel, const std::vector<TaskId>& waits) {
  auto id = parcel.task.id;
  for (const auto& on : waits)
    db.queue("INSERT INTO hf.blocks (on_task, task) VALUES ($1, $2) ON CONFLICT DO NOTHING", on,
             id);
  HistoryRows history;
  for (const auto& entry : parcel.history) history.add(id, entry);
  history.queue(db);
  for (const auto& line : parcel.logs)
    db.queue("INSERT INTO hf.log (task, at, attempt, line) VALUES ($1, $2, $3, $4)", id, line.at,
             line.attempt, line.text);
  for (const auto& [key, value] : parcel.effects)
    db.queue("INSERT INTO hf.effects (task, key, value) VALUES ($1, $2, $3)", id, key, value);
}

Adopted adopt_one(Connection& db, const Parcel& parcel, Known& known) {
  const auto& task = parcel.task;
  if (known.there.contains(task.id)) return Adopted::there;
  bool has_key = !is_finished(task.state) && !task.unique_key.empty();
  if (has_key && known.keys.contains(task.unique_key)) return Adopted::key_taken;
  auto waits = unfinished(known, task);
  auto state = task.state;
  if (state == TaskState::pending || state == TaskState::blocked)
    state = waits.empty() ? TaskState::pending : TaskState::blocked;
  queue_task(db, parcel, state);
  db.counts().add(task.queue, state);
  queue_belongings(db, parcel, waits);
  known.there.insert(task.id);
  known.waited_for[task.id] = state;
  if (has_key) known.keys.insert(task.unique_key);
  return Adopted::created;
}

}  // namespace

std::vector<Adopted> adopt_all(Connection& db, std::span<const Parcel> parcels) {
  auto known = look(db, parcels);
  std::vector<Adopted> done;
  for (const auto& parcel : parcels) {
    done.push_back(adopt_one(db, parcel, known));
    if (done.size() % sent_at_once == 0) db.run("SELECT 1");
  }
  db.run("SELECT 1");
  return done;
}

}  // namespace holdfast::postgres
