#include <algorithm>

#include "engines/sqlite/orphaned.hpp"
#include "engines/sqlite/report_rows.hpp"
#include "engines/sqlite/statements.hpp"
#include "engines/sqlite/task_change.hpp"
#include "engines/sqlite/task_store.hpp"
#include "recovery/actors.hpp"

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

/// The task, if it still is what the verdict was about.
std::optional<FoundTask> find_orphan(Connection& db, const Verdict& verdict, Millis now,
                                     const std::string& domain) {
  auto find =
      db.use("SELECT" HOLDFAST_FOUND_TASK
             " WHERE t.id = ?1 AND t.token = ?2 AND t.state = {running} AND t.cancel_requested = ?5"
             " AND" HOLDFAST_STILL_ORPHANED("t", "?6"));
  find.bind(verdict.lease.id, verdict.lease.token, now, domain, verdict.cancel_requested,
            end_believed(verdict));
  if (!find.step()) return {};
  return read_found(find);
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
             " WHERE t.state = {running} AND (" HOLDFAST_PRESUMED_DEAD
             "OR" HOLDFAST_ORPHANED("t") ")");
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
      auto task = find_orphan(db, verdict, store_.clock.steady(), store_.clock_domain);
      if (task) {
        auto change = lifecycle::reclaim(task->row, verdict, now);
        apply_change(db, *task, change, store_.token_floor());
        end_dependents(db, task->seq, {task->row.id, change.to, actors::recovery}, now);
        entries.add({.id = verdict.lease.id,
                     .now = verdict.to,
                     .attempt = verdict.attempt,
                     .max_attempts = task->max_attempts,
                     .worker = task->row.worker,
                     .reason = verdict.reason});
      }
      done.push_back(task.has_value());
    }
    entries.finish();
    return done;
  });
  store_.watch.announce_work();
  return reclaimed;
}

}  // namespace holdfast::sqlite
