#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engines/sqlite/report_rows.hpp"
#include "engines/sqlite/statements.hpp"
#include "engines/sqlite/task_store.hpp"
#include "recovery/child_lock.hpp"

namespace holdfast::sqlite {

namespace {

constexpr Writer::KillPoints renew_points{KillPoint::renew_before_commit,
                                          KillPoint::renew_after_commit};
constexpr Writer::KillPoints reclaim_points{KillPoint::reclaim_before_commit,
                                            KillPoint::reclaim_after_commit};

/// Whose work may be taken: workers that were buried, said goodbye, or are not known at all, and
/// claims past their time, if that can be read on our clock. ?3 is now, ?4 our clock's domain.
#define HOLDFAST_ORPHANED                                                \
  " (w.seq IS NULL OR w.died_at IS NOT NULL OR w.stopped_at IS NOT NULL" \
  "  OR (t.lease_until < ?3 AND w.clock = ?4)) "

/// ?1 are the ids of workers that are to be taken for buried; mostly there are none.
#define HOLDFAST_PRESUMED_DEAD " (?1 <> '' AND instr(?1, hex(w.id)) > 0) "

/// Ids as SQLite's `hex` writes them, with something between them.
std::string hex_list(std::span<const WorkerId> ids) {
  std::string list;
  for (const auto& id : ids) list += fmt::format("{:02X},", fmt::join(id.bytes, ""));
  return list;
}

Orphan read_orphan(const Statement& row) {
  Orphan orphan;
  orphan.lease = {row.task_id(0), Token{row.integer(1)}};
  orphan.worker = row.worker_id(2);
  orphan.expired = row.integer(3) != 0;
  orphan.attempt = static_cast<int>(row.integer(4));
  orphan.max_attempts = static_cast<int>(row.integer(5));
  orphan.crashes = static_cast<int>(row.integer(6));
  orphan.recoveries = static_cast<int>(row.integer(7));
  orphan.cancel_requested = row.integer(8) != 0;
  if (!row.is_null(9)) orphan.backoff = parse_backoff(row.text(9));
  orphan.suspect = row.integer(10) != 0;
  orphan.kind = row.text(11);
  return orphan;
}

struct Taken {
  std::int64_t seq = 0;
  int max_attempts = 0;
  std::optional<WallTime> claimed_at{};
  std::optional<WorkerId> worker{};
};

/// The task, if it still is what the verdict was about.
std::optional<Taken> find_orphan(Connection& db, const Verdict& verdict, Millis now,
                                 const std::string& domain) {
  auto find = db.use(
      "SELECT t.seq, t.claimed_at, w.id, t.max_attempts FROM holdfast_tasks t"
      " LEFT JOIN holdfast_workers w ON w.seq = t.owner"
      " WHERE t.id = ?1 AND t.token = ?2 AND t.state = 1 AND t.cancel_requested = ?5"
      " AND" HOLDFAST_ORPHANED);
  find.bind(verdict.lease.id, verdict.lease.token, now, domain, verdict.cancel_requested);
  if (!find.step()) return {};
  Taken taken{find.integer(0), static_cast<int>(find.integer(3)), find.optional_time(1)};
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
  auto orphans = store_.reader.read([&](Connection& db) {
    std::vector<Orphan> found;
    // No order is asked for: sorting all of them for every portion would take longer than taking
    // them back.
    auto query = db.use(
        "SELECT t.id, t.token, w.id, w.seq IS NOT NULL AND w.died_at IS NULL AND w.stopped_at IS"
        " NULL AND NOT" HOLDFAST_PRESUMED_DEAD
        ", t.attempt, t.max_attempts, t.crashes, t.recoveries,"
        " t.cancel_requested, t.backoff, t.suspect, l.kind"
        " FROM holdfast_tasks t INDEXED BY holdfast_running"
        " CROSS JOIN holdfast_lanes l ON l.lane = t.lane"
        " LEFT JOIN holdfast_workers w ON w.seq = t.owner"
        " WHERE t.state = 1 AND (" HOLDFAST_PRESUMED_DEAD "OR" HOLDFAST_ORPHANED ")");
    query.bind(presumed, nullptr, store_.clock.steady(), store_.clock_domain);
    while (static_cast<int>(found.size()) < limit && query.step()) {
      found.push_back(read_orphan(query));
    }
    return found;
  });
  leave_out_running_children(store_.files, orphans);
  return orphans;
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
