#include "engines/sqlite/transfer.hpp"

#include <fmt/format.h>

#include "engines/sqlite/statements.hpp"
#include "engines/sqlite/task_admin_prune.hpp"
#include "engines/sqlite/task_admin_record.hpp"
#include "engines/sqlite/task_change.hpp"
#include "tasks/transitions.hpp"

namespace holdfast::sqlite {

namespace {

/// Nothing instead of an empty text.
std::optional<std::string_view> unless_empty(const std::string& text) {
  if (text.empty()) return {};
  return text;
}

/// Those that it waits for and that have not completed.
std::vector<std::int64_t> unfinished(Connection& db, const TaskRecord& task) {
  std::vector<std::int64_t> waits;
  auto find = db.use("SELECT seq, state FROM holdfast_tasks WHERE id = ?");
  for (const auto& id : task.waits_for) {
    if (!find.bind(id).step())
      throw InvalidRequest{fmt::format("task {} waits for {}, which is not in this store",
                                       task.id.text(), id.text())};
    if (find.integer(1) != static_cast<int>(TaskState::completed)) waits.push_back(find.integer(0));
    find.again();
  }
  return waits;
}

TaskState adopted_state(TaskState state, bool waits) {
  if (state != TaskState::pending && state != TaskState::blocked) return state;
  return waits ? TaskState::blocked : TaskState::pending;
}

/// Returns the number of the new row; nothing if there is one with this id.
std::optional<std::int64_t> insert_row(Connection& db, const Parcel& parcel, TaskState state) {
  const auto& task = parcel.task;
  auto tags = tags_text(task.tags);
  std::optional<std::string> backoff;
  if (!is_default(parcel.backoff)) backoff = backoff_text(parcel.backoff);
  auto key = unless_empty(task.unique_key);
  auto run_at = task.run_at <= task.created_at ? WallTime{} : task.run_at;
  auto lane = lane_of(db, task.queue, task.kind, task.limit_key);
  db.use(
        "INSERT INTO holdfast_tasks (id, lane, state, priority, run_at, token, finished_at,"
        " attempt, recoveries, crashes, suspect, created_at, max_attempts, timeout, backoff,"
        " unique_key, tags, error, cause, result, payload_sum, payload)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO NOTHING")
      .bind(task.id, lane, state, task.priority, run_at, task.token, task.finished_at, task.attempt,
            task.recoveries, task.crashes, task.suspect, task.created_at, task.max_attempts,
            task.timeout, backoff, key, tags, unless_empty(task.error), unless_empty(task.cause),
            unless_empty(task.result), payload_sum(task.payload, tags, key, backoff), task.payload)
      .run();
  if (db.changes() == 0) return {};
  auto seq = db.last_insert();
  seal(db, seq);
  db.counts().add(lane, state);
  return seq;
}

void insert_belongings(Connection& db, const Parcel& parcel, std::int64_t seq) {
  for (const auto& entry : parcel.history) add_history(db, seq, entry);
  auto log = db.use("INSERT INTO holdfast_log (task, n, at, attempt, line) VALUES (?, ?, ?, ?, ?)");
  std::int64_t n = 0;
  for (const auto& line : parcel.logs) log.bind(seq, ++n, line.at, line.attempt, line.text).run();
  auto effect = db.use("INSERT INTO holdfast_effects (task, key, value, sum) VALUES (?, ?, ?, ?)");
  for (const auto& [key, value] : parcel.effects)
    effect.bind(seq, key, value, effect_sum(seq, key, value)).run();
}

Adopted adopt_one(Connection& db, const Parcel& parcel) {
  const auto& task = parcel.task;
  auto find = db.use("SELECT 1 FROM holdfast_tasks WHERE id = ?");
  if (find.bind(task.id).step()) return Adopted::there;
  if (!is_finished(task.state) && !task.unique_key.empty() &&
      unfinished_with_key(db, task.unique_key))
    return Adopted::key_taken;
  auto waits = unfinished(db, task);
  auto seq = insert_row(db, parcel, adopted_state(task.state, !waits.empty()));
  if (!seq) return Adopted::there;
  for (auto on : waits)
    db.use("INSERT OR IGNORE INTO holdfast_blocks (on_seq, seq) VALUES (?, ?)")
        .bind(on, *seq)
        .run();
  insert_belongings(db, parcel, *seq);
  return Adopted::created;
}

std::optional<Parcel> read_parcel(Connection& db, TaskId id) {
  Parcel parcel;
  auto find = db.use("SELECT seq, backoff FROM holdfast_tasks WHERE id = ?");
  if (!find.bind(id).step()) return {};
  auto seq = find.integer(0);
  if (!find.is_null(1)) parcel.backoff = parse_backoff(find.text(1));
  auto task = read_record(db, seq);
  if (!task) return {};
  parcel.task = std::move(*task);
  auto effects = db.use("SELECT key, value FROM holdfast_effects WHERE task = ? ORDER BY key");
  effects.bind(seq);
  while (effects.step()) parcel.effects.emplace_back(effects.text(0), effects.text(1));
  return parcel;
}

}  // namespace

void expect_not_moved(const Store& store, Connection& db) {
  auto find = db.use("SELECT value FROM holdfast_meta WHERE key = 'moved_to'");
  if (find.step()) refuse_because_moved("sqlite:" + store.path, find.text(0));
}

std::optional<MoveNote> SqliteTaskTransfer::note() {
  return store_.reader.read([](Connection& db) -> std::optional<MoveNote> {
    auto find = db.use("SELECT value FROM holdfast_meta WHERE key = 'move_note'");
    if (!find.step()) return {};
    return parse_note(find.text(0));
  });
}

std::string SqliteTaskTransfer::keep_store_id(const std::string& id) {
  auto read = [](Connection& db) {
    auto find = db.use("SELECT value FROM holdfast_meta WHERE key = 'store_id'");
    return std::string{find.step() ? find.text(0) : ""};
  };
  auto found = store_.reader.read(read);
  if (!found.empty()) return found;
  return store_.writer.write(move_points, [&](Connection& db) {
    db.use("INSERT OR IGNORE INTO holdfast_meta (key, value) VALUES ('store_id', ?)")
        .bind(id)
        .run();
    return read(db);
  });
}

void SqliteTaskTransfer::set_note(const std::optional<MoveNote>& note) {
  store_.writer.write(move_points, [&](Connection& db) {
    db.execute("DELETE FROM holdfast_meta WHERE key IN ('move_note', 'moved_to')");
    auto write = db.use("INSERT INTO holdfast_meta (key, value) VALUES (?, ?)");
    if (note) write.bind("move_note", note_text(*note)).run();
    if (note && note->closed) write.bind("moved_to", note->to).run();
  });
}

std::vector<Parcel> SqliteTaskTransfer::pack(std::span<const TaskId> ids) {
  std::vector<Parcel> parcels;
  store_.reader.read([&](Connection& db) {
    for (const auto& id : ids)
      if (auto parcel = read_parcel(db, id)) parcels.push_back(std::move(*parcel));
  });
  for (auto& parcel : parcels) {
    parcel.history = admin_.recorded_history(parcel.task.id);
    parcel.logs = admin_.logs(parcel.task.id);
  }
  return parcels;
}

std::vector<Adopted> SqliteTaskTransfer::adopt(std::span<const Parcel> parcels) {
  auto adopted = store_.writer.write(move_points, [&](Connection& db) {
    std::vector<Adopted> done;
    for (const auto& parcel : parcels) done.push_back(adopt_one(db, parcel));
    return done;
  });
  store_.watch.announce_work();
  return adopted;
}

std::int64_t SqliteTaskTransfer::forget(std::span<const TaskId> ids) {
  return store_.writer.write(move_points, [&](Connection& db) {
    std::vector<std::int64_t> seqs;
    auto find = db.use(
        "SELECT seq FROM holdfast_tasks WHERE id = ? AND state IN ({completed}, {failed}, "
        "{cancelled}, {held})");
    for (const auto& id : ids) {
      if (find.bind(id).step()) seqs.push_back(find.integer(0));
      find.again();
    }
    return remove_tasks(db, seqs);
  });
}

}  // namespace holdfast::sqlite
