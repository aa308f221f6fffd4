#include "engines/postgres/transfer.hpp"

#include <map>
#include <unordered_map>

#include "engines/postgres/adopting.hpp"
#include "engines/postgres/statements.hpp"
#include "recovery/backoff.hpp"

namespace holdfast::postgres {

namespace {

using ParcelsById = std::unordered_map<TaskId, Parcel*>;

void read_belongings(Connection& db, const std::vector<TaskId>& ids, const ParcelsById& parcels) {
  auto each = [&](Rows rows, auto read) {
    while (rows.next())
      if (auto found = parcels.find(rows.task_id(0)); found != parcels.end())
        read(rows, *found->second);
  };
  each(db.run("SELECT id, backoff FROM hf.tasks WHERE id = ANY($1) AND backoff IS NOT NULL", ids),
       [](const Rows& row, Parcel& parcel) { parcel.backoff = parse_backoff(row.text(1)); });
  each(db.run("SELECT task, key, value FROM hf.effects WHERE task = ANY($1) ORDER BY task, key",
              ids),
       [](const Rows& row, Parcel& parcel) {
         parcel.effects.emplace_back(row.text(1), row.text(2));
       });
  each(db.run("SELECT task, at, attempt, line FROM hf.log WHERE task = ANY($1) ORDER BY task, n",
              ids),
       [](const Rows& row, Parcel& parcel) {
         parcel.logs.push_back({row.time(1), row.small(2), row.text(3)});
       });
  each(db.run("SELECT task, from_state, to_state, actor, reason, token, attempt, at, claimed_at,"
              " worker FROM hf.history WHERE task = ANY($1) ORDER BY task, n",
              ids),
       [](const Rows& row, Parcel& parcel) {
         RecordedTransition step;
         step.transition = {row.state(1),          row.state(2), row.text(3), row.text(4),
                            Token{row.integer(5)}, row.small(6), row.time(7)};
         step.claimed_at = row.optional_time(8);
         step.worker = row.optional_worker(9);
         parcel.history.push_back(std::move(step));
       });
}

}  // namespace

std::optional<MoveNote> PostgresTaskTransfer::note() {
  return store_.reader.read([](Connection& db) -> std::optional<MoveNote> {
    auto row = db.run("SELECT value FROM hf.notes WHERE key = 'move'");
    if (!row.next()) return {};
    return parse_note(row.text(0));
  });
}

std::string PostgresTaskTransfer::keep_store_id(const std::string& id) {
  auto read = [](Connection& db) {
    auto row = db.run("SELECT value FROM hf.notes WHERE key = 'store_id'");
    return std::string{row.next() ? row.text(0) : ""};
  };
  auto found = store_.reader.read(read);
  if (!found.empty()) return found;
  return store_.writer.write(move_points, [&](Connection& db) {
    db.run("INSERT INTO hf.notes (key, value) VALUES ('store_id', $1) ON CONFLICT DO NOTHING", id);
    return read(db);
  });
}

void PostgresTaskTransfer::set_note(const std::optional<MoveNote>& note) {
  store_.writer.write(move_points, [&](Connection& db) {
    db.queue("SELECT pg_advisory_xact_lock" HOLDFAST_LOCK_OF_MOVES);
    db.run("DELETE FROM hf.notes WHERE key IN ('move', 'moved_to')");
    constexpr const char* write = "INSERT INTO hf.notes (key, value) VALUES ($1, $2)";
    if (note) db.run(write, "move", note_text(*note));
    if (note && note->closed) db.run(write, "moved_to", note->to);
  });
}

std::vector<Parcel> PostgresTaskTransfer::pack(std::span<const TaskId> ids) {
  TaskFilter filter;
  filter.ids.assign(ids.begin(), ids.end());
  if (ids.empty()) return {};
  std::map<TaskId, TaskRecord> found;
  for (auto& task : admin_.search(filter, {.limit = static_cast<int>(ids.size())}))
    found.emplace(task.id, std::move(task));
  std::vector<Parcel> parcels;
  for (const auto& id : ids) {
    auto task = found.find(id);
    if (task == found.end()) continue;
    parcels.emplace_back();
    parcels.back().task = std::move(task->second);
  }
  ParcelsById by_id;
  for (auto& parcel : parcels) by_id[parcel.task.id] = &parcel;
  store_.reader.read([&](Connection& db) { read_belongings(db, filter.ids, by_id); });
  return parcels;
}

std::vector<Adopted> PostgresTaskTransfer::adopt(std::span<const Parcel> parcels) {
  if (parcels.empty()) return {};
  auto adopted =
      store_.writer.write(move_points, [&](Connection& db) { return adopt_all(db, parcels); });
  store_.session.announce_work();
  return adopted;
}

std::int64_t PostgresTaskTransfer::forget(std::span<const TaskId> ids) {
  return store_.writer.write(move_points, [&](Connection& db) {
    std::vector<TaskId> gone;
    auto rows = db.run(
        "SELECT id FROM hf.tasks WHERE id = ANY($1) AND state IN ({completed}, {failed}, "
        "{cancelled}, {held}) ORDER BY id"
        " FOR UPDATE",
        ids);
    while (rows.next()) gone.push_back(rows.task_id(0));
    return remove_tasks(db, gone);
  });
}

}  // namespace holdfast::postgres
