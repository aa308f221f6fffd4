#include "engines/sqlite/worker_registry.hpp"

#include <unistd.h>

#include "engines/sqlite/report_rows.hpp"
#include "engines/sqlite/worker_rows.hpp"

namespace holdfast::sqlite {

namespace {

constexpr auto rows_are_kept = std::chrono::days{7};

}  // namespace

std::unique_ptr<Enlistment> SqliteWorkerRegistry::enlist(const WorkerProfile& profile) {
  auto id = WorkerId::make();
  auto enlistment = std::make_unique<HostEnlistment>(store_.files, id, profile, oom_kills_before_);
  auto about = profile_json(profile);
  auto host = host_name();
  try {
    store_.writer.write({KillPoint::enlist_before_row, KillPoint::enlist_after_row},
                        [&](Connection& db) {
                          auto now = store_.clock.wall();
                          db.use(
                                "INSERT INTO holdfast_workers (id, host, pid, clock, lease,"
                                " lease_until, started_at, last_heartbeat, profile)"
                                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
                              .bind(id, host, ::getpid(), store_.clock_domain, profile.lease,
                                    store_.clock.steady() + profile.lease, now, now, about)
                              .run();
                        });
  } catch (const std::exception&) {
    ::unlink(store_.files.worker(id).c_str());
    throw;
  }
  return enlistment;
}

bool SqliteWorkerRegistry::beat(WorkerId worker, std::span<const TaskId> holding,
                                std::string_view figures) {
  auto ids = ids_json(holding);
  return store_.writer.write(
      {KillPoint::renew_before_commit, KillPoint::renew_after_commit}, [&](Connection& db) {
        db.use(
              "UPDATE holdfast_workers SET last_heartbeat = ?2,"
              " lease_until = ?3 + lease, holding = ?4,"
              " figures = iif(?5 = '', figures, ?5) WHERE id = ?1"
              " AND died_at IS NULL AND stopped_at IS NULL")
            .bind(worker, store_.clock.wall(), store_.clock.steady(), ids, figures)
            .run();
        return db.changes() == 1;
      });
}

void SqliteWorkerRegistry::retire(WorkerId worker, std::string_view figures) {
  bool goodbye = store_.writer.write(
      {KillPoint::retire_before_row, KillPoint::retire_after_row}, [&](Connection& db) {
        db.use(
              "UPDATE holdfast_workers SET stopped_at = ?2, holding = '[]',"
              " figures = iif(?3 = '', figures, ?3) WHERE id = ?1"
              " AND died_at IS NULL AND stopped_at IS NULL")
            .bind(worker, store_.clock.wall(), figures)
            .run();
        bool said = db.changes() == 1;
        forget_old_rows(db);
        return said;
      });
  // If it was declared dead meanwhile, its file is evidence and goes when it is cleared.
  if (goodbye) ::unlink(store_.files.worker(worker).c_str());
}

std::vector<Sighting> SqliteWorkerRegistry::look() {
  // Files before rows: a free lock means that the worker's last row is already written.
  auto files = WorkerFiles::look(store_.files);
  auto rows =
      store_.reader.read([](Connection& db) { return worker_rows(db, WhichWorkers::not_gone); });
  auto abandoned = files.all();
  std::vector<Sighting> sightings;
  for (const auto& row : rows) {
    const auto& id = row.status.id;
    abandoned.erase(id);
    auto seen = judge(row, files.locked(id), store_.clock_domain, store_.clock.steady());
    if (seen.proven_dead) seen.remains = remains_of(row, store_.files.worker(id));
    sightings.push_back(std::move(seen));
  }
  // A dead worker without a row died before it was registered or after it was cleared.
  for (const auto& [id, locked] : abandoned)
    if (!locked) ::unlink(store_.files.worker(id).c_str());
  return sightings;
}

bool SqliteWorkerRegistry::bury(const Sighting& sighting, const ReportHead& report) {
  return store_.writer.write(
      {KillPoint::bury_before_commit, KillPoint::bury_after_commit}, [&](Connection& db) {
        db.use(
              "UPDATE holdfast_workers SET died_at = ?2, cause = ?3, evidence = ?4 WHERE id = ?1"
              " AND died_at IS NULL AND stopped_at IS NULL"
              " AND (?5 OR (clock = ?6 AND lease_until < ?7 AND lease_until = ?8))")
            .bind(sighting.status.id, store_.clock.wall(), sighting.status.cause,
                  sighting.remains.evidence, sighting.proven_dead, store_.clock_domain,
                  store_.clock.steady(), sighting.lease_until)
            .run();
        if (db.changes() != 1) return false;
        ReportEntries entries{db, report, store_.clock.wall()};
        entries.add(dead_worker(sighting));
        entries.finish();
        return true;
      });
}

bool SqliteWorkerRegistry::clear(WorkerId worker) {
  // Killed between the row and the file? Then `look` finds a file without a row and removes it.
  bool cleared = store_.writer.write(
      {KillPoint::clear_before_files, KillPoint::clear_before_files}, [&](Connection& db) {
        db.use(
              "UPDATE holdfast_workers SET cleared_at = ?2, holding = '[]' WHERE id = ?1"
              " AND died_at IS NOT NULL AND cleared_at IS NULL AND NOT EXISTS"
              " (SELECT 1 FROM holdfast_tasks WHERE state = {running} AND owner = "
              "holdfast_workers.seq)"
              " AND NOT EXISTS (SELECT 1 FROM holdfast_batch_claims WHERE owner IS NOT NULL"
              " AND owner = holdfast_workers.seq)")
            .bind(worker, store_.clock.wall())
            .run();
        bool changed = db.changes() == 1;
        forget_old_rows(db);
        return changed;
      });
  if (!cleared) return false;
  ::unlink(store_.files.worker(worker).c_str());
  kill_point(KillPoint::clear_after_files);
  return true;
}

void SqliteWorkerRegistry::forget_old_rows(Connection& db) {
  // The newest row stays, so that its number is not given to another worker: finished tasks still
  // name their workers by it.
  auto before = store_.clock.wall() - rows_are_kept;
  db.use(
        "DELETE FROM holdfast_workers WHERE (stopped_at < ?1 OR cleared_at < ?1)"
        " AND seq < (SELECT max(seq) FROM holdfast_workers)")
      .bind(WallTime{before})
      .run();
}

bool SqliteWorkerRegistry::wait_for_death(Millis timeout, std::stop_token stop) {
  return deaths_.wait(timeout, std::move(stop));
}

std::vector<WorkerStatus> SqliteWorkerRegistry::list() {
  auto files = WorkerFiles::look(store_.files);
  auto rows = store_.reader.read([](Connection& db) { return worker_rows(db, WhichWorkers::all); });
  std::vector<WorkerStatus> list;
  for (const auto& row : rows) {
    bool gone = row.cleared || row.status.state == WorkerState::stopped;
    list.push_back(
        gone ? row.status
             : judge(row, files.locked(row.status.id), store_.clock_domain, store_.clock.steady())
                   .status);
  }
  return list;
}

std::vector<ToldFigures> SqliteWorkerRegistry::figures(Millis within) {
  return store_.reader.read([&](Connection& db) {
    auto rows = db.use(
        "SELECT id, started_at, max(last_heartbeat, coalesce(stopped_at, 0)), figures"
        " FROM holdfast_workers WHERE figures <> ''"
        " AND max(last_heartbeat, coalesce(stopped_at, 0)) >= ? ORDER BY seq");
    rows.bind(WallTime{store_.clock.wall() - within});
    std::vector<ToldFigures> told;
    while (rows.step())
      told.push_back({rows.worker_id(0), rows.time(1), rows.time(2), rows.text(3)});
    return told;
  });
}

}  // namespace holdfast::sqlite
