#include "engines/postgres/orphaned.hpp"
#include "engines/postgres/report_entries.hpp"
#include "engines/postgres/statements.hpp"
#include "engines/postgres/task_store.hpp"
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
      auto place = static_cast<std::size_t>(rows.integer(0)) - 1;
      done[place] = true;
      note(verdicts_[place], rows);
    }
    if (ids_.size() == 0) return done;
    apply();
    history_.queue(db_);
    entries_.queue(db_);
    if (!cancelled_.empty()) cancel_dependents(db_, cancelled_, "system/recovery");
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
        "SELECT s.n, t.claimed_at, t.owner, t.max_attempts, t.queue FROM unnest($1::uuid[], "
        "$2::bigint[],"
        " $3::boolean[], $4::bigint[]) WITH ORDINALITY AS s(id, token, cancel, until, n)"
        " JOIN hf.tasks t ON t.id = s.id"
        " AND t.token = s.token AND t.state + 0 = 1 AND t.cancel_requested = s.cancel"
        " LEFT JOIN hf.workers w ON w.id = t.owner WHERE" HOLDFAST_STILL_ORPHANED(
            "t", "s.until") "ORDER BY t.id FOR UPDATE OF t SKIP LOCKED",
        ids.value(), tokens.value(), cancel.value(), ends.value());
  }

  void note(const Verdict& verdict, const Rows& row) {
    ids_.add(verdict.lease.id);
    to_.add(verdict.to);
    attempts_.add(verdict.attempt);
    crashes_.add(verdict.crashes);
    suspects_.add(verdict.suspect);
    delays_.add(verdict.delay);
    reasons_.add(verdict.reason);
    verdict.cause.empty() ? causes_.add_null() : causes_.add(verdict.cause);
    auto worker = row.optional_worker(2);
    db_.counts().move(row.text(4), TaskState::running, verdict.to);
    history_.add({.task = verdict.lease.id,
                  .to = verdict.to,
                  .actor = "system/recovery",
                  .reason = verdict.reason,
                  .token = verdict.lease.token,
                  .attempt = verdict.attempt,
                  .claimed_at = row.optional_time(1),
                  .worker = worker});
    entries_.add({.id = verdict.lease.id,
                  .now = verdict.to,
                  .attempt = verdict.attempt,
                  .max_attempts = row.small(3),
                  .worker = worker,
                  .reason = verdict.reason});
    if (verdict.to == TaskState::cancelled) cancelled_.push_back(verdict.lease.id);
  }

  void apply() {
    db_.queue(
        "UPDATE hf.tasks t SET state = v.to_state, token = greatest(t.token + 1, {micros}),"
        " attempt = v.attempt, crashes = v.crashes, recoveries = t.recoveries + 1,"
        " suspect = v.suspect, run_at = CASE WHEN v.to_state <> 0 THEN t.run_at WHEN v.delay > 0"
        " THEN {wall} + v.delay ELSE 0 END, finished_at = CASE WHEN v.to_state IN (3, 4) THEN"
        " {wall} END, error = CASE WHEN v.to_state IN (3, 4) THEN v.reason ELSE t.error END,"
        " cause = v.cause, lease_until = NULL, cancel_requested = false"
        " FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[],"
        " $6::bigint[], $7::text[], $8::text[]) AS v(id, to_state, attempt, crashes, suspect,"
        " delay, reason, cause) WHERE t.id = v.id",
        ids_.value(), to_.value(), attempts_.value(), crashes_.value(), suspects_.value(),
        delays_.value(), reasons_.value(), causes_.value());
  }

  Connection& db_;
  std::span<const Verdict> verdicts_;
  ReportEntries entries_;
  HistoryRows history_;
  std::vector<TaskId> cancelled_;
  Array ids_{Type::uuid}, to_{Type::bigint}, attempts_{Type::bigint}, crashes_{Type::bigint},
      suspects_{Type::boolean}, delays_{Type::bigint}, reasons_{Type::text}, causes_{Type::text};
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
        " LEFT JOIN hf.workers w ON w.id = t.owner WHERE t.state = 1"
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
