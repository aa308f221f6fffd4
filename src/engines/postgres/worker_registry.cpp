#include "engines/postgres/worker_registry.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <map>

#include "engines/postgres/orphaned.hpp"
#include "engines/postgres/report_entries.hpp"
#include "engines/postgres/worker_rows.hpp"

namespace holdfast::postgres {

namespace {

/// Somebody may have ended the session of a worker that lives. It takes a new one at once, so who
/// still has none after this is dead.
constexpr int time_to_come_back_ms = 250;
constexpr Millis between_looks{100};
constexpr auto rows_are_kept = std::chrono::days{7};

class PostgresEnlistment final : public HostEnlistment {
 public:
  PostgresEnlistment(Store& store, WorkerId id, const WorkerProfile& profile,
                     std::uint64_t oom_kills_before)
      : HostEnlistment{store.files, id, profile, oom_kills_before}, session_{store.session} {}
  ~PostgresEnlistment() override { session_.let_go(lock_key(id())); }

 private:
  Session& session_;
};

void queue_forgetting(Connection& db) {
  db.queue("DELETE FROM hf.workers WHERE stopped_at < {wall} - $1 OR cleared_at < {wall} - $1",
           std::chrono::duration_cast<Millis>(rows_are_kept));
}

}  // namespace

std::unique_ptr<Enlistment> PostgresWorkerRegistry::enlist(const WorkerProfile& profile) {
  auto id = WorkerId::make();
  auto enlistment = std::make_unique<PostgresEnlistment>(store_, id, profile, oom_kills_before_);
  try {
    auto session = store_.session.hold(lock_key(id), id);
    store_.writer.write(
        {KillPoint::enlist_before_row, KillPoint::enlist_after_row}, [&](Connection& db) {
          db.run(
              "INSERT INTO hf.workers (id, host, pid, session, lock, boot, lease, lease_until,"
              " started_at, last_heartbeat, heartbeat, concurrency, queues, kinds)"
              " VALUES ($1, $2, $3, $4, $5, $6, $7, {steady} + $7, {wall}, {wall}, $8, $9, $10,"
              " $11)",
              id, host_name(), ::getpid(), session, lock_key(id), boot_of(clock_domain()),
              profile.lease, profile.heartbeat, profile.concurrency, profile.queues, profile.kinds);
        });
  } catch (const std::exception&) {
    ::unlink(store_.files.worker(id).c_str());
    throw;
  }
  return enlistment;
}

bool PostgresWorkerRegistry::beat(WorkerId worker, std::span<const TaskId> holding,
                                  std::string_view figures) {
  auto here = store_.clock.own_wall();
  auto now = store_.writer.write(
      {KillPoint::renew_before_commit, KillPoint::renew_after_commit}, [&](Connection& db) {
        auto row = db.run(
            "UPDATE hf.workers SET last_heartbeat = {wall}, lease_until = {steady} + lease,"
            " holding = $2, figures = coalesce(nullif($3, ''), figures) WHERE id = $1"
            " AND died_at IS NULL AND stopped_at IS NULL RETURNING last_heartbeat",
            worker, holding, figures);
        return row.next() ? std::optional{row.time(0)} : std::nullopt;
      });
  if (now) store_.clock.learn(*now, here);
  return now.has_value();
}

void PostgresWorkerRegistry::retire(WorkerId worker, std::string_view figures) {
  bool goodbye = store_.writer.write(
      {KillPoint::retire_before_row, KillPoint::retire_after_row}, [&](Connection& db) {
        auto row = db.run(
            "UPDATE hf.workers SET stopped_at = {wall}, holding = '{}',"
            " figures = coalesce(nullif($2, ''), figures) WHERE id = $1"
            " AND died_at IS NULL AND stopped_at IS NULL",
            worker, figures);
        queue_forgetting(db);
        return row.changed() == 1;
      });
  // If it was declared dead meanwhile, its file is evidence and goes when it is cleared.
  if (goodbye) ::unlink(store_.files.worker(worker).c_str());
}

std::vector<Sighting> PostgresWorkerRegistry::look() {
  auto ask = [&] {
    return store_.reader.read(
        [](Connection& db) { return worker_rows(db, WhichWorkers::not_gone); });
  };
  auto seems_dead = [](const WorkerRow& row) { return !row.buried && row.free.value_or(false); };
  auto rows = ask();
  if (std::ranges::any_of(rows, seems_dead)) {
    std::map<WorkerId, std::string> suspected;
    for (const auto& row : rows)
      if (seems_dead(row)) suspected[row.status.id] = row.session;
    ::poll(nullptr, 0, time_to_come_back_ms);
    rows = ask();
    for (auto& row : rows) {
      auto before = suspected.find(row.status.id);
      if (before == suspected.end() || before->second != row.session) row.free.reset();
    }
  }
  std::vector<Sighting> sightings;
  for (const auto& row : rows) {
    auto seen = judge(row);
    if (seen.proven_dead) seen.remains = remains_of(row, store_.files.worker(row.status.id));
    sightings.push_back(std::move(seen));
  }
  return sightings;
}

bool PostgresWorkerRegistry::bury(const Sighting& sighting, const ReportHead& report) {
  const auto& remains = sighting.remains;
  std::vector<TaskId> running;
  Array tokens{Type::bigint};
  for (const auto& lease : remains.running) {
    running.push_back(lease.id);
    tokens.add(lease.token);
  }
  return store_.writer.write(
      {KillPoint::bury_before_commit, KillPoint::bury_after_commit}, [&](Connection& db) {
        // The proof is asked for once more, in the step that relies on it.
        auto buried = db.run(
            "UPDATE hf.workers w SET died_at = {wall}, cause = $2, evidence = $3, proven = $4,"
            " readable = $5, restarted = $6, running = $7, running_tokens = $8 WHERE id = $1"
            " AND died_at IS NULL AND stopped_at IS NULL AND CASE WHEN $4 THEN session = $9"
            " AND pg_try_advisory_xact_lock_shared(lock) ELSE lease_until = $10"
            " AND" HOLDFAST_PAST_ITS_TIME("w") "END",
            sighting.status.id, sighting.status.cause, remains.evidence, sighting.proven_dead,
            remains.readable, remains.machine_restarted, running, tokens.value(), db.server_run(),
            sighting.lease_until);
        if (buried.changed() != 1) return false;
        ReportEntries entries{report};
        entries.add(db, dead_worker(sighting));
        entries.queue(db);
        return true;
      });
}

bool PostgresWorkerRegistry::clear(WorkerId worker) {
  bool cleared = store_.writer.write(
      {KillPoint::clear_before_files, KillPoint::clear_before_files}, [&](Connection& db) {
        auto row = db.run(
            "UPDATE hf.workers SET cleared_at = {wall}, holding = '{}' WHERE id = $1"
            " AND died_at IS NOT NULL AND cleared_at IS NULL AND NOT EXISTS"
            " (SELECT 1 FROM hf.tasks WHERE state = {running} AND owner = $1) AND NOT EXISTS"
            " (SELECT 1 FROM hf.batch_claims WHERE owner = $1)",
            worker);
        queue_forgetting(db);
        return row.changed() == 1;
      });
  if (!cleared) return false;
  ::unlink(store_.files.worker(worker).c_str());
  kill_point(KillPoint::clear_after_files);
  return true;
}

bool PostgresWorkerRegistry::wait_for_death(Millis timeout, std::stop_token stop) {
  auto deadline = std::chrono::steady_clock::now() + timeout;
  std::mutex mutex;
  std::condition_variable_any never;
  for (;;) {
    if (store_.reader.read([](Connection& db) { return anybody_dead(db); })) return true;
    auto left = deadline - std::chrono::steady_clock::now();
    if (left <= Millis{0} || stop.stop_requested()) return false;
    std::unique_lock lock{mutex};
    never.wait_for(lock, stop, std::min<std::chrono::nanoseconds>(left, between_looks),
                   [] { return false; });
  }
}

std::vector<WorkerStatus> PostgresWorkerRegistry::list() {
  auto rows = store_.reader.read([](Connection& db) { return worker_rows(db, WhichWorkers::all); });
  std::vector<WorkerStatus> list;
  for (const auto& row : rows) {
    bool gone = row.cleared || row.status.state == WorkerState::stopped;
    list.push_back(gone ? row.status : judge(row).status);
  }
  return list;
}

std::vector<ToldFigures> PostgresWorkerRegistry::figures(Millis within) {
  return store_.reader.read([&](Connection& db) {
    auto rows = db.run(
        "SELECT id, started_at, greatest(last_heartbeat, stopped_at), figures FROM hf.workers"
        " WHERE figures <> '' AND greatest(last_heartbeat, stopped_at) >= {wall} - $1 ORDER BY n",
        within);
    std::vector<ToldFigures> told;
    while (rows.next())
      told.push_back({rows.worker_id(0), rows.time(1), rows.time(2), rows.text(3)});
    return told;
  });
}

}  // namespace holdfast::postgres
