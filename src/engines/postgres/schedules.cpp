#include "engines/postgres/schedules.hpp"

#include <algorithm>
#include <set>

#include "engines/postgres/statements.hpp"
#include "tasks/schedule_text.hpp"

namespace holdfast::postgres {

namespace {

constexpr Writer::KillPoints schedule_points{KillPoint::schedule_before_commit,
                                             KillPoint::schedule_after_commit};

#define HOLDFAST_SCHEDULE                                                   \
  "SELECT name, cron, zone, kind, payload, options, missed, paused, next, " \
  "last_fired, revision FROM hf.schedules "

std::vector<Schedule> read_all(Rows rows) {
  std::vector<Schedule> schedules;
  while (rows.next()) {
    auto& schedule = schedules.emplace_back();
    schedule.name = rows.text(0);
    schedule.cron = rows.text(1);
    schedule.zone = rows.text(2);
    schedule.task = {rows.text(3), rows.text(4), parse_options(rows.text(5))};
    schedule.missed = static_cast<MissedRuns>(rows.integer(6));
    schedule.paused = rows.yes(7);
    schedule.next = rows.optional_time(8);
    schedule.last_fired = rows.optional_time(9);
    schedule.revision = rows.integer(10);
  }
  return schedules;
}

/// Changes a row if the schedule is as it was seen.
void queue_change(Connection& db, const ScheduleChange& change) {
  const auto& to = change.to;
  auto queue = [&](const char* sql) {
    db.queue(sql, to.name, to.cron, to.zone, to.task.kind, to.task.payload,
             options_text(to.task.options), static_cast<int>(to.missed), to.paused, to.next,
             to.last_fired, to.revision, change.seen);
  };
  if (change.seen == 0) {
    queue(
        "INSERT INTO hf.schedules (name, cron, zone, kind, payload, options, missed, paused, next,"
        " last_fired, revision) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 WHERE $12 = 0"
        " ON CONFLICT DO NOTHING");
  } else {
    queue(
        "UPDATE hf.schedules SET cron = $2, zone = $3, kind = $4, payload = $5, options = $6,"
        " missed = $7, paused = $8, next = $9, last_fired = $10, revision = $11"
        " WHERE name = $1 AND revision = $12");
  }
}

/// Those that were fired before are left as they are.
std::vector<Inserted> insert_fires(Connection& db, const std::vector<NewTask>& fires) {
  if (fires.empty()) return {};
  std::vector<TaskId> ids;
  for (const auto& task : fires) ids.push_back(*task.options.id);
  std::set<TaskId> there;
  auto rows = db.run("SELECT id FROM hf.tasks WHERE id = ANY($1)", ids);
  while (rows.next()) there.insert(rows.task_id(0));
  std::vector<NewTask> missing;
  for (const auto& task : fires)
    if (!there.contains(*task.options.id)) missing.push_back(task);
  auto inserted = insert_tasks(db, missing);
  for (auto id : there) inserted.push_back({id, false});
  return inserted;
}

std::vector<AppliedChange> apply_all(Connection& db, std::span<const ScheduleChange> changes) {
  // In the same order for everybody, so that two who change several do not wait for each other.
  std::vector<std::size_t> order(changes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return changes[i].to.name; });
  std::vector<AppliedChange> applied(changes.size());
  for (auto i : order) queue_change(db, changes[i]);
  auto results = db.collect();
  auto first = results.size() - changes.size();
  for (std::size_t n = 0; n < order.size(); ++n) {
    auto& one = applied[order[n]];
    one.accepted = results[first + n].changed() > 0;
    if (one.accepted) one.inserted = insert_fires(db, changes[order[n]].fires);
  }
  return applied;
}

}  // namespace

std::vector<Schedule> PostgresScheduleStore::list() {
  return store_.reader.read(
      [](Connection& db) { return read_all(db.run(HOLDFAST_SCHEDULE "ORDER BY name")); });
}

std::vector<Schedule> PostgresScheduleStore::due(WallTime until, int limit) {
  return store_.reader.read([&](Connection& db) {
    return read_all(db.run(
        HOLDFAST_SCHEDULE "WHERE NOT paused AND next <= $1 ORDER BY next LIMIT $2", until, limit));
  });
}

std::vector<AppliedChange> PostgresScheduleStore::apply(std::span<const ScheduleChange> changes) {
  if (changes.empty()) return {};
  auto applied =
      store_.writer.write(schedule_points, [&](Connection& db) { return apply_all(db, changes); });
  if (std::ranges::any_of(applied, [](const auto& one) { return !one.inserted.empty(); }))
    store_.session.announce_work();
  return applied;
}

bool PostgresScheduleStore::remove(const std::string& name) {
  return store_.writer.write(schedule_points, [&](Connection& db) {
    return db.run("DELETE FROM hf.schedules WHERE name = $1", name).changed() > 0;
  });
}

}  // namespace holdfast::postgres
