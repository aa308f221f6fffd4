#include "engines/postgres/limits.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "tasks/limit_tally.hpp"

namespace holdfast::postgres {

namespace {

constexpr Writer::KillPoints limit_points{KillPoint::limit_before_commit,
                                          KillPoint::limit_after_commit};

using Place = std::pair<LimitScope, std::string>;
using Buckets = std::map<Place, TokenBucket>;

int number_of(LimitScope scope) { return static_cast<int>(scope); }

/// Always has a row, for the time.
constexpr const char* limits_sql =
    "SELECT n.wall, l.scope, l.name, l.max_running, l.tasks, l.period, l.burst"
    " FROM (SELECT {wall} AS wall) n LEFT JOIN hf.limits l ON true ORDER BY l.scope, l.name";

struct KnownLimits {
  std::vector<Limit> limits{};
  WallTime now{};
};

KnownLimits read_limits(Rows rows) {
  KnownLimits known;
  while (rows.next()) {
    known.now = rows.time(0);
    if (rows.is_null(1)) continue;
    Limit limit{static_cast<LimitScope>(rows.integer(1)), rows.text(2)};
    if (!rows.is_null(3)) limit.max_running = rows.small(3);
    if (!rows.is_null(4)) limit.rate = Rate{rows.small(4), Millis{rows.integer(5)}, rows.small(6)};
    known.limits.push_back(std::move(limit));
  }
  return known;
}

Buckets read_buckets(Rows rows) {
  Buckets buckets;
  while (rows.next())
    buckets[{static_cast<LimitScope>(rows.integer(0)), rows.text(1)}] = {rows.integer(2),
                                                                         rows.time(3)};
  return buckets;
}

/// Those that tasks of these groups would take from.
Buckets buckets_of(Connection& db, std::span<const ReadyGroup> groups) {
  std::set<Place> places;
  for (const auto& group : groups) {
    places.emplace(LimitScope::queue, group.queue);
    places.emplace(LimitScope::kind, group.kind);
    if (!group.key.empty()) places.emplace(LimitScope::key, group.key);
  }
  Array scopes{Type::bigint}, names{Type::text};
  for (const auto& [scope, name] : places) {
    scopes.add(number_of(scope));
    names.add(name);
  }
  return read_buckets(
      db.run("SELECT b.scope, b.name, b.parts, b.at FROM unnest($1::bigint[], $2::text[])"
             " AS n(scope, name) JOIN hf.buckets b ON b.scope = n.scope AND b.name = n.name",
             scopes.value(), names.value()));
}

/// Where another rate holds from now on buckets begin anew: they count in parts of their rate.
void queue_to_forget_buckets(Connection& db, LimitScope scope, const std::string& name) {
  if (name == each_name) {
    db.queue(
        "DELETE FROM hf.buckets WHERE scope = $1 AND name NOT IN (SELECT name FROM hf.limits"
        " WHERE scope = $1)",
        number_of(scope));
  } else {
    db.queue("DELETE FROM hf.buckets WHERE scope = $1 AND name = $2", number_of(scope), name);
  }
}

void queue_set(Connection& db, const Limit& limit) {
  std::optional<int> tasks, burst;
  std::optional<Millis> period;
  if (limit.rate) tasks = limit.rate->tasks, period = limit.rate->period, burst = limit.rate->burst;
  db.queue(
      "INSERT INTO hf.limits (scope, name, max_running, tasks, period, burst)"
      " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (scope, name) DO UPDATE SET"
      " max_running = excluded.max_running, tasks = excluded.tasks, period = excluded.period,"
      " burst = excluded.burst",
      number_of(limit.scope), limit.name, limit.max_running, tasks, period, burst);
}

std::optional<Rate> rate_in(const std::vector<Limit>& limits, const Limit& wanted) {
  for (const auto& limit : limits)
    if (limit.scope == wanted.scope && limit.name == wanted.name) return limit.rate;
  return {};
}

}  // namespace

void queue_turn_of_limited_claim(Connection& db) {
  db.queue("SELECT pg_advisory_xact_lock(hashtextextended('hf.limits/turn', 0))");
}

void queue_allowance(Connection& db) {
  db.queue(limits_sql);
  // In the order of an index, so that it is read and what is dead in it is marked on the way.
  db.queue(
      "SELECT r.queue, r.kind, r.limit_key, count(*) FROM (SELECT queue, kind, limit_key FROM"
      " hf.tasks WHERE state = {running} AND EXISTS (SELECT 1 FROM hf.limits WHERE max_running IS "
      "NOT NULL)"
      " ORDER BY owner) r GROUP BY r.queue, r.kind, r.limit_key");
}

Allowance read_allowance(Connection& db, Rows limits, Rows running,
                         std::span<const ReadyGroup> groups) {
  auto known = read_limits(std::move(limits));
  bool any_rate =
      std::ranges::any_of(known.limits, [](const Limit& limit) { return limit.rate.has_value(); });
  auto buckets = any_rate ? buckets_of(db, groups) : Buckets{};
  Allowance allowance{std::move(known.limits), known.now,
                      [buckets = std::move(buckets)](
                          LimitScope scope, const std::string& name) -> std::optional<TokenBucket> {
                        auto found = buckets.find({scope, name});
                        if (found == buckets.end()) return {};
                        return found->second;
                      }};
  while (running.next()) {
    auto queue = running.text(0), kind = running.text(1), key = running.text(2);
    allowance.add_running({queue, kind, key}, running.integer(3));
  }
  return allowance;
}

void queue_buckets(Connection& db, const Allowance& allowance) {
  auto changed = allowance.changed();
  if (changed.empty()) return;
  Array scopes{Type::bigint}, names{Type::text}, parts{Type::bigint}, at{Type::bigint},
      full_at{Type::bigint};
  for (const auto& one : changed) {
    scopes.add(number_of(one.scope));
    names.add(one.name);
    parts.add(one.bucket.parts);
    at.add(one.bucket.at);
    full_at.add(one.full_at);
  }
  db.queue("DELETE FROM hf.buckets WHERE full_at <= {wall}");
  db.queue(
      "INSERT INTO hf.buckets (scope, name, parts, at, full_at) SELECT * FROM unnest($1::bigint[],"
      " $2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) ON CONFLICT (scope, name) DO UPDATE"
      " SET parts = excluded.parts, at = excluded.at, full_at = excluded.full_at",
      scopes.value(), names.value(), parts.value(), at.value(), full_at.value());
}

void PostgresLimitStore::set(std::span<const Limit> limits) {
  store_.writer.write(limit_points, [&](Connection& db) {
    db.queue("SELECT pg_advisory_xact_lock" HOLDFAST_LOCK_OF_LIMITS);
    auto before = read_limits(db.run(limits_sql)).limits;
    for (const auto& limit : limits) {
      if (rate_in(before, limit) != limit.rate)
        queue_to_forget_buckets(db, limit.scope, limit.name);
      queue_set(db, limit);
    }
    db.collect();
  });
  store_.session.announce_work();
}

bool PostgresLimitStore::remove(LimitScope scope, const std::string& name) {
  bool removed = store_.writer.write(limit_points, [&](Connection& db) {
    db.queue("SELECT pg_advisory_xact_lock" HOLDFAST_LOCK_OF_LIMITS);
    auto gone =
        db.run("DELETE FROM hf.limits WHERE scope = $1 AND name = $2", number_of(scope), name);
    queue_to_forget_buckets(db, scope, name);
    db.collect();
    return gone.changed() > 0;
  });
  store_.session.announce_work();
  return removed;
}

std::vector<LimitStatus> PostgresLimitStore::list() {
  return store_.reader.read([&](Connection& db) {
    auto known = read_limits(db.run(limits_sql));
    if (known.limits.empty()) return std::vector<LimitStatus>{};
    const auto now = known.now;
    LimitTally tally{std::move(known.limits)};
    auto running = db.run(
        "SELECT queue, kind, limit_key, count(*) FROM hf.tasks WHERE state = {running}"
        " GROUP BY queue, kind, limit_key");
    while (running.next()) {
      auto queue = running.text(0), kind = running.text(1), key = running.text(2);
      tally.add_running({queue, kind, key}, running.integer(3));
    }
    for (const auto& [place, bucket] :
         read_buckets(db.run("SELECT scope, name, parts, at FROM hf.buckets")))
      tally.add_bucket(place.first, place.second, bucket);
    return tally.statuses(now);
  });
}

}  // namespace holdfast::postgres
