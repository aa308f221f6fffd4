#include "engines/sqlite/schedules.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include <fmt/format.h>

#include "engines/sqlite/room.hpp"
#include "engines/sqlite/statements.hpp"
#include "engines/sqlite/transfer.hpp"
#include "recovery/plain_text.hpp"
#include "tasks/schedule_text.hpp"

namespace holdfast::sqlite {

namespace {

constexpr Writer::KillPoints schedule_points{KillPoint::schedule_before_commit,
                                             KillPoint::schedule_after_commit};

#define HOLDFAST_SCHEDULE                                                   \
  "SELECT name, cron, zone, kind, payload, options, missed, paused, next, " \
  "last_fired, revision, sum FROM holdfast_schedules "

/// A row as it is stored.
struct ScheduleRow {
  std::string name, cron, zone, kind, payload, options;
  std::int64_t missed = 0, paused = 0;
  std::optional<WallTime> next{}, last_fired{};
  std::int64_t revision = 0, sum = 0;

  std::int64_t right_sum() const {
    auto number = [](const std::optional<WallTime>& time) {
      return time ? time->time_since_epoch().count() : -1;
    };
    // No name and no JSON has this character in it, so no two rows are the same when joined.
    auto text =
        fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{} {} {} {} {}", name, cron, zone, kind,
                    payload, options, missed, paused, number(next), number(last_fired), revision);
    return static_cast<std::int64_t>(XXH3_64bits(text.data(), text.size()));
  }
};

ScheduleRow read_schedule(const Statement& row) {
  return {row.text(0),          row.text(1),          row.text(2),     row.text(3),
          row.text(4),          row.text(5),          row.integer(6),  row.integer(7),
          row.optional_time(8), row.optional_time(9), row.integer(10), row.integer(11)};
}

ScheduleRow row_of(const Schedule& schedule) {
  ScheduleRow row{schedule.name,
                  schedule.cron,
                  schedule.zone,
                  schedule.task.kind,
                  schedule.task.payload,
                  options_text(schedule.task.options),
                  static_cast<std::int64_t>(schedule.missed),
                  schedule.paused,
                  schedule.next,
                  schedule.last_fired,
                  schedule.revision};
  row.sum = row.right_sum();
  return row;
}

Schedule schedule_of(const ScheduleRow& row) {
  Schedule schedule;
  schedule.name = row.name;
  schedule.cron = row.cron;
  schedule.zone = row.zone;
  schedule.task = {row.kind, row.payload, parse_options(row.options)};
  schedule.missed = static_cast<MissedRuns>(row.missed);
  schedule.paused = row.paused != 0;
  schedule.next = row.next;
  schedule.last_fired = row.last_fired;
  schedule.revision = row.revision;
  return schedule;
}

void write_row(Connection& db, const ScheduleRow& row) {
  db.use("INSERT OR REPLACE INTO holdfast_schedules VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(row.name, row.cron, row.zone, row.kind, row.payload, row.options, row.missed,
            row.paused, row.next, row.last_fired, row.revision, row.sum)
      .run();
}

std::int64_t revision_of(Connection& db, const std::string& name) {
  auto find = db.use("SELECT revision FROM holdfast_schedules WHERE name = ?");
  return find.bind(name).step() ? find.integer(0) : 0;
}

bool is_there(Connection& db, TaskId id) {
  auto find = db.use("SELECT 1 FROM holdfast_tasks WHERE id = ?");
  return find.bind(id).step();
}

AppliedChange apply_one(Connection& db, const ScheduleChange& change, WallTime now) {
  if (revision_of(db, change.to.name) != change.seen) return {};
  write_row(db, row_of(change.to));
  AppliedChange applied{.accepted = true};
  for (const auto& task : change.fires) {
    auto id = *task.options.id;
    applied.inserted.push_back(is_there(db, id)
                                   ? Inserted{id, false}
                                   : insert_tasks(db, std::span{&task, 1}, now).front());
  }
  return applied;
}

std::vector<Schedule> read_all(Statement& query) {
  std::vector<Schedule> schedules;
  while (query.step()) {
    auto row = read_schedule(query);
    // Damage must not be run. The integrity check names it.
    if (row.right_sum() == row.sum) schedules.push_back(schedule_of(row));
  }
  return schedules;
}

std::vector<ScheduleRow> all_rows(Connection& db) {
  std::vector<ScheduleRow> rows;
  auto query = db.use(HOLDFAST_SCHEDULE "ORDER BY name");
  while (query.step()) rows.push_back(read_schedule(query));
  return rows;
}

}  // namespace

std::vector<Schedule> SqliteScheduleStore::list() {
  return store_.reader.read([](Connection& db) {
    auto query = db.use(HOLDFAST_SCHEDULE "ORDER BY name");
    return read_all(query);
  });
}

std::vector<Schedule> SqliteScheduleStore::due(WallTime until, int limit) {
  return store_.reader.read([&](Connection& db) {
    auto query = db.use(HOLDFAST_SCHEDULE
                        "INDEXED BY holdfast_due_schedules WHERE paused = 0 AND next <= ?"
                        " ORDER BY next LIMIT ?");
    query.bind(until, limit);
    return read_all(query);
  });
}

std::vector<AppliedChange> SqliteScheduleStore::apply(std::span<const ScheduleChange> changes) {
  auto applied = store_.writer.write(schedule_points, [&](Connection& db) {
    std::vector<AppliedChange> done;
    auto now = store_.clock.wall();
    for (const auto& change : changes) {
      if (!change.fires.empty()) {
        expect_not_moved(store_, db);
        expect_room(store_, db, change.fires);
      }
      done.push_back(apply_one(db, change, now));
    }
    return done;
  });
  if (std::ranges::any_of(applied, [](const auto& one) { return !one.inserted.empty(); }))
    store_.watch.announce_work();
  return applied;
}

bool SqliteScheduleStore::remove(const std::string& name) {
  return store_.writer.write(schedule_points, [&](Connection& db) {
    db.use("DELETE FROM holdfast_schedules WHERE name = ?").bind(name).run();
    return db.changes() > 0;
  });
}

void find_damaged_schedules(Connection& db, const std::function<void(std::string)>& found) {
  for (const auto& row : all_rows(db)) {
    if (row.right_sum() == row.sum) continue;
    found(fmt::format("Schedule '{}' is damaged and does not fire: remove it and add it again.",
                      plain(row.name)));
  }
}

std::vector<std::string> drop_damaged_schedules(Connection& db) {
  std::vector<std::string> dropped;
  for (const auto& row : all_rows(db)) {
    if (row.right_sum() == row.sum) continue;
    db.use("DELETE FROM holdfast_schedules WHERE name = ?").bind(row.name).run();
    dropped.push_back(plain(row.name));
  }
  return dropped;
}

void pause_schedules(Connection& db) {
  for (auto& row : all_rows(db)) {
    if (row.right_sum() != row.sum) continue;
    row.paused = 1;
    row.sum = row.right_sum();
    write_row(db, row);
  }
}

}  // namespace holdfast::sqlite
