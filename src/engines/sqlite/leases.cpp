#include <algorithm>

#include "engines/sqlite/orphaned.hpp"
#include "engines/sqlite/report_rows.hpp"
#include "engines/sqlite/statements.hpp"
#include "engines/sqlite/task_store.hpp"

namespace holdfast::sqlite {

namespace {

Orphan read_task(const Statement& row) {
  constexpr int rest = orphan_columns;
  auto orphan = read_orphan(row);
  orphan.lease.id = row.task_id(rest);
  orphan.max_attempts = static_cast<int>(row.integer(rest + 1));
  orphan.cancel_requested = row.integer(rest + 2) != 0;
  if (!row.is_null(rest + 3)) orphan.backoff = parse_backoff(row.text(rest + 3));
  orphan.kind = row.text(rest + 4);
  return orphan;
}

struct Taken {
  std::int64_t seq = 0;
  std::int64_t lane = 0;
  int max_attempts = 0;
  std::optional<WallTime> claimed_at{};
  std::optional<WorkerId> worker{};
};

/// The task, if it still is what the verdict was about.
std::optional<Taken> find_orphan(Connection& db, const Verdict& verdict, Millis now,
                                 const std::string& domain) {
  auto find = db.use(
      "SELECT t.seq, t.claimed_at, w.id, t.max_attempts, t.lane FROM holdfast_tasks t"
      " LEFT JOIN holdfast_workers w ON w.seq = t.owner"
      " WHERE t.id = ?1 AND t.token = ?2 AND t.state = 1 AND t.cancel_requested = ?5"
      " AND" HOLDFAST_STILL_ORPHANED("t", "?6"));
  find.bind(verdict.lease.id, verdict.lease.token, now, domain, verdict.cancel_requested,
            end_believed(verdict));
  if (!find.step()) return {};
  Taken taken{find.integer(0), find.integer(4), static_cast<int>(find.integer(3)),
              find.optional_time(1)};
  if (!find.is_null(2)) taken.worker = find.worker_id(2);
  return taken;
}

void take_back(Connection& db, const Verdict& verdict, const Taken& taken, WallTime now,
               std::int64_t token_floor) {
  auto to = verdict.to;
  bool again = to == TaskState::pending;
  bool final = to == TaskState::failed || to == TaskState::cancelled;
  Token token{std::max(verdict.lease.token.value + 1, token_floor)};
  std::optional<WallTime> finished_at, run_at;
  if (final) finished_at = now;
  if (again) run_at = verdict.delay > Millis{0} ? now + verdict.delay : WallTime{};
  std::optional<std::string_view> cause;
  if (!verdict.cause.empty()) cause = verdict.cause;
  auto update = db.use(
      "UPDATE holdfast_tasks SET state = ?2, token = ?3, attempt = ?4, crashes = ?5,"
      " recoveries = recoveries + 1, suspect = ?6, run_at = coalesce(?7, run_at), finished_at = ?8,"
      " error = CASE WHEN ?2 IN (3, 4) THEN ?9 ELSE error END, cause = ?10, lease_until = NULL,"
      " cancel_requested = 0 WHERE seq = ?1");
  update.bind(taken.seq, to, token, verdict.attempt, verdict.crashes, verdict.suspect, run_at,
              finished_at, verdict.reason, cause);
  update.run();
  seal(db, taken.seq);
  db.counts().move(taken.lane, TaskState::running, to);
  add_history(db, {.task = taken.seq,
                   .from = TaskState::running,
                   .to = to,
                   .actor = "system/recovery",
                   .reason = verdict.reason,
                   .token = verdict.lease.token,
                   .attempt = verdict.attempt,
                   .claimed_at = taken.claimed_at,
                   .worker = taken.worker,
                   .at = now});
  if (to == TaskState::cancelled) cancel_dependents(db, taken.seq, now, "system/recovery");
}

}  // namespace

std::vector<Renewal> SqliteTaskStore::renew(std::span<const Lease> leases, Millis length) {
  return store_.writer.write(renew_points, [&](Connection& db) {
    std::vector<Renewal> renewals;
    renewals.reserve(leases.size());
    for (const auto& lease : leases) {
      auto update = db.use("UPDATE holdfast_tasks SET lease_until = ?3 WHERE" HOLDFAST_TOKEN_GUARD
                           "RETURNING cancel_requested");
      update.bind(lease.id, lease.token, store_.clock.steady() + length);
      if (!update.step()) {
        renewals.push_back(Renewal::lost);
      } else {
        renewals.push_back(update.integer(0) != 0 ? Renewal::cancelled : Renewal::kept);
      }
    }
    return renewals;
  });
}

std::vector<Orphan> SqliteTaskStore::orphans(int limit, std::span<const WorkerId> as_if_buried) {
  auto presumed = hex_list(as_if_buried);
  return store_.reader.read([&](Connection& db) {
    std::vector<Orphan> found;
    // No order is asked for: sorting all of them for every portion would take longer than taking
    // them back.
    auto query = db.use("SELECT" HOLDFAST_ORPHAN_COLUMNS(
        "t") ", t.id, t.max_attempts, t.cancel_requested, t.backoff, l.kind"
             " FROM holdfast_tasks t INDEXED BY holdfast_running"
             " CROSS JOIN holdfast_lanes l ON l.lane = t.lane"
             " LEFT JOIN holdfast_workers w ON w.seq = t.owner"
             " WHERE t.state = 1 AND (" HOLDFAST_PRESUMED_DEAD "OR" HOLDFAST_ORPHANED("t") ")");
    query.bind(presumed, nullptr, store_.clock.steady(), store_.clock_domain);
    while (static_cast<int>(found.size()) < limit && query.step())
      found.push_back(read_task(query));
    return found;
  });
}

std::vector<bool> SqliteTaskStore::reclaim(std::span<const Verdict> verdicts,
                                           const ReportHead& report) {
  auto reclaimed = store_.writer.write(reclaim_points, [&](Connection& db) {
    std::vector<bool> done;
    auto now = store_.clock.wall();
    ReportEntries entries{db, report, now};
    for (const auto& verdict : verdicts) {
      auto taken = find_orphan(db, verdict, store_.clock.steady(), store_.clock_domain);
      if (taken) {
        take_back(db, verdict, *taken, now, store_.token_floor());
        entries.add({.id = verdict.lease.id,
                     .now = verdict.to,
                     .attempt = verdict.attempt,
                     .max_attempts = taken->max_attempts,
                     .worker = taken->worker,
                     .reason = verdict.reason});
      }
      done.push_back(taken.has_value());
    }
    entries.finish();
    return done;
  });
  store_.watch.announce_work();
  return reclaimed;
}

}  // namespace holdfast::sqlite
