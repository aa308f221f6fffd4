#include "engines/postgres/orphaned.hpp"
#include "engines/postgres/report_entries.hpp"
#include "engines/postgres/statements.hpp"
#include "engines/postgres/task_store.hpp"
#include "recovery/actors.hpp"
#include "recovery/backoff.hpp"

namespace holdfast::postgres {

namespace {

Orphan read_task(const Rows& row) {
  constexpr int rest = orphan_columns;
  auto orphan = read_orphan(row);
  orphan.lease.id = row.task_id(rest);
  orphan.max_attempts = row.small(rest + 1);
  orphan.cancel_requested = row.yes(rest + 2);
  if (!row.is_null(rest + 3)) orphan.backoff = parse_backoff(row.text(rest + 3));
  orphan.kind = row.text(rest + 4);
  return orphan;
}

std::vector<Renewal> renew_leases(Connection& db, std::span<const Lease> leases, Millis length) {
  Array ids{Type::uuid}, tokens{Type::bigint};
  for (const auto& lease : leases) {
    ids.add(lease.id);
    tokens.add(lease.token);
  }
  // What somebody has locked is being settled, perhaps in a transaction of the handler's own:
  // nobody can take it back, so there is nothing to wait for.
  auto renewed = db.run(
      "UPDATE hf.tasks t SET lease_until = {steady} + $3 FROM (SELECT t.id, s.n FROM"
      " unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS s(id, token, n) JOIN hf.tasks t"
      " ON" HOLDFAST_TOKEN_GUARD
      "ORDER BY t.id FOR UPDATE OF t SKIP LOCKED) l WHERE t.id = l.id"
      " RETURNING l.n, t.cancel_requested",
      ids.value(), tokens.value(), length);
  std::vector<Renewal> renewals(leases.size(), Renewal::lost);
  auto read = [&](Rows& rows) {
    while (rows.next())
      renewals[static_cast<std::size_t>(rows.integer(0)) - 1] =
          rows.yes(1) ? Renewal::cancelled : Renewal::kept;
  };
  read(renewed);
  if (renewed.count() == static_cast<std::int64_t>(leases.size())) return renewals;
  auto locked = db.run(
      "SELECT s.n, t.cancel_requested FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY"
      " AS s(id, token, n) JOIN hf.tasks t ON" HOLDFAST_TOKEN_GUARD,
      ids.value(), tokens.value());
  read(locked);
  return renewals;
}

/// A reclaim of many: looks which verdicts still hold, then applies those.
class Reclaiming {
 public:
  Reclaiming(Connection& db, std::span<const Verdict> verdicts, const ReportHead& report)
      : db_{db}, verdicts_{verdicts}, entries_{report} {}

  std::vector<bool> run() {
    std::vector<bool> done(verdicts_.size());
    auto rows = lock_orphans();
    while (rows.next()) {
      auto place = static_cast<std::size_t>(rows.integer(found_columns)) - 1;
      done[place] = true;
      take_back(verdicts_[place], read_found(rows));
    }
    if (ended_.empty()) return done;
    changes_.queue(db_);
    entries_.queue(db_);
    end_dependents(db_, std::move(ended_));
    return done;
  }

 private:
  Rows lock_orphans() {
    Array ids{Type::uuid}, tokens{Type::bigint}, cancel{Type::boolean}, ends{Type::bigint};
    for (const auto& verdict : verdicts_) {
      ids.add(verdict.lease.id);
      verdict.expired ? ends.add(verdict.lease_until) : ends.add_null();
      tokens.add(verdict.lease.token);
      cancel.add(verdict.cancel_requested);
    }
    return db_.run(
        "SELECT" HOLDFAST_FOUND_TASK
        ", s.n FROM unnest($1::uuid[], $2::bigint[], $3::boolean[], $4::bigint[])"
        " WITH ORDINALITY AS s(id, token, cancel, until, n) JOIN hf.tasks t ON t.id = s.id"
        " AND t.token = s.token AND t.state + 0 = {running} AND t.cancel_requested = s.cancel"
        " LEFT JOIN hf.workers w ON w.id = t.owner WHERE" HOLDFAST_STILL_ORPHANED(
            "t", "s.until") "ORDER BY t.id FOR UPDATE OF t SKIP LOCKED",
        ids.value(), tokens.value(), cancel.value(), ends.value());
  }

  void take_back(const Verdict& verdict, const FoundTask& task) {
    const auto change = lifecycle::reclaim(task.row, verdict, task.now);
    changes_.add(db_, task, change);
    entries_.add({.id = verdict.lease.id,
                  .now = verdict.to,
                  .attempt = verdict.attempt,
                  .max_attempts = task.max_attempts,
                  .worker = task.row.worker,
                  .reason = verdict.reason});
    ended_.push_back({verdict.lease.id, change.to, actors::recovery});
  }

  Connection& db_;
  std::span<const Verdict> verdicts_;
  ReportEntries entries_;
  TaskChanges changes_;
  std::vector<EndedTask> ended_;
};

}  // namespace

std::vector<Renewal> PostgresTaskStore::renew(std::span<const Lease> leases, Millis length) {
  if (leases.empty()) return {};
  return store_.writer.write(renew_points,
                             [&](Connection& db) { return renew_leases(db, leases, length); });
}

std::vector<Orphan> PostgresTaskStore::orphans(int limit, std::span<const WorkerId> as_if_buried) {
  return store_.reader.read([&](Connection& db) {
    std::vector<Orphan> found;
    auto rows = db.run(
        "SELECT" HOLDFAST_ORPHAN_COLUMNS("t")
        ", t.id, t.max_attempts, t.cancel_requested, t.backoff, t.kind FROM hf.tasks t"
        " LEFT JOIN hf.workers w ON w.id = t.owner WHERE t.state = {running}"
        " AND (w.id = ANY($1) OR" HOLDFAST_ORPHANED("t") ") LIMIT $2",
        as_if_buried, limit);
    while (rows.next()) found.push_back(read_task(rows));
    return found;
  });
}

std::vector<bool> PostgresTaskStore::reclaim(std::span<const Verdict> verdicts,
                                             const ReportHead& report) {
  auto reclaimed = store_.writer.write(reclaim_points, [&](Connection& db) {
    return Reclaiming{db, verdicts, report}.run();
  });
  store_.session.announce_work();
  return reclaimed;
}

}  // namespace holdfast::postgres
