#include "engines/sqlite/limits.hpp"

#include <map>

#include "tasks/limit_tally.hpp"

namespace holdfast::sqlite {

namespace {

constexpr Writer::KillPoints limit_points{KillPoint::limit_before_commit,
                                          KillPoint::limit_after_commit};

int number_of(LimitScope scope) { return static_cast<int>(scope); }

std::vector<Limit> read_limits(Connection& db) {
  std::vector<Limit> limits;
  auto query = db.use(
      "SELECT scope, name, max_running, tasks, period, burst FROM holdfast_limits"
      " ORDER BY scope, name");
  while (query.step()) {
    Limit limit{static_cast<LimitScope>(query.integer(0)), query.text(1)};
    if (!query.is_null(2)) limit.max_running = static_cast<int>(query.integer(2));
    if (!query.is_null(3))
      limit.rate = Rate{static_cast<int>(query.integer(3)), Millis{query.integer(4)},
                        static_cast<int>(query.integer(5))};
    limits.push_back(std::move(limit));
  }
  return limits;
}

std::optional<TokenBucket> read_bucket(Connection& db, LimitScope scope, const std::string& name) {
  auto find = db.use("SELECT parts, at FROM holdfast_buckets WHERE scope = ? AND name = ?");
  if (!find.bind(number_of(scope), name).step()) return {};
  return TokenBucket{find.integer(0), find.time(1)};
}

/// Calls `found(LimitNames, count)` for every lane that has running tasks. The index alone is read.
template <class F>
void each_running(Connection& db, F found) {
  std::map<std::int64_t, std::int64_t> counts;
  auto running =
      db.use("SELECT lane FROM holdfast_tasks INDEXED BY holdfast_running WHERE state = {running}");
  while (running.step()) ++counts[running.integer(0)];
  auto lane = db.use("SELECT queue, kind, key FROM holdfast_lanes WHERE lane = ?");
  for (const auto& [id, count] : counts) {
    if (lane.bind(id).step()) {
      auto queue = lane.text(0), kind = lane.text(1), key = lane.text(2);
      found(LimitNames{queue, kind, key}, count);
    }
    lane.again();
  }
}

void set_one(Connection& db, const Limit& limit) {
  std::optional<int> tasks, burst;
  std::optional<Millis> period;
  if (limit.rate) tasks = limit.rate->tasks, period = limit.rate->period, burst = limit.rate->burst;
  db.use(
        "INSERT OR REPLACE INTO holdfast_limits (scope, name, max_running, tasks, period, burst)"
        " VALUES (?, ?, ?, ?, ?, ?)")
      .bind(number_of(limit.scope), limit.name, limit.max_running, tasks, period, burst)
      .run();
}

/// Buckets count in parts of their rate: where another one holds from now on, they begin anew.
void forget_buckets(Connection& db, LimitScope scope, const std::string& name) {
  if (name == each_name) {
    db.use(
          "DELETE FROM holdfast_buckets WHERE scope = ?1 AND name NOT IN"
          " (SELECT name FROM holdfast_limits WHERE scope = ?1)")
        .bind(number_of(scope))
        .run();
  } else {
    db.use("DELETE FROM holdfast_buckets WHERE scope = ? AND name = ?")
        .bind(number_of(scope), name)
        .run();
  }
}

std::optional<Rate> rate_in(const std::vector<Limit>& limits, const Limit& wanted) {
  for (const auto& limit : limits)
    if (limit.scope == wanted.scope && limit.name == wanted.name) return limit.rate;
  return {};
}

}  // namespace

bool any_limits(Connection& db) {
  auto find = db.use("SELECT 1 FROM holdfast_limits LIMIT 1");
  return find.step();
}

std::optional<Allowance> read_allowance(Connection& db, WallTime now) {
  auto limits = read_limits(db);
  if (limits.empty()) return {};
  Allowance allowance{std::move(limits), now, [&db](LimitScope scope, const std::string& name) {
                        return read_bucket(db, scope, name);
                      }};
  if (allowance.counts_running()) {
    each_running(db, [&](const LimitNames& names, std::int64_t count) {
      allowance.add_running(names, count);
    });
  }
  return allowance;
}

void write_buckets(Connection& db, const Allowance& allowance, WallTime now) {
  auto changed = allowance.changed();
  if (changed.empty()) return;
  db.use("DELETE FROM holdfast_buckets WHERE full_at <= ?").bind(now).run();
  auto write = db.use(
      "INSERT OR REPLACE INTO holdfast_buckets (scope, name, parts, at, full_at)"
      " VALUES (?, ?, ?, ?, ?)");
  for (const auto& [scope, name, bucket, full_at] : changed)
    write.bind(number_of(scope), name, bucket.parts, bucket.at, full_at).run();
}

void SqliteLimitStore::set(std::span<const Limit> limits) {
  store_.writer.write(limit_points, [&](Connection& db) {
    auto before = read_limits(db);
    for (const auto& limit : limits) {
      if (rate_in(before, limit) != limit.rate) forget_buckets(db, limit.scope, limit.name);
      set_one(db, limit);
    }
  });
  store_.watch.announce_work();
}

bool SqliteLimitStore::remove(LimitScope scope, const std::string& name) {
  bool removed = store_.writer.write(limit_points, [&](Connection& db) {
    db.use("DELETE FROM holdfast_limits WHERE scope = ? AND name = ?")
        .bind(number_of(scope), name)
        .run();
    bool was_there = db.changes() > 0;
    forget_buckets(db, scope, name);
    return was_there;
  });
  store_.watch.announce_work();
  return removed;
}

std::vector<LimitStatus> SqliteLimitStore::list() {
  return store_.reader.read([&](Connection& db) {
    auto limits = read_limits(db);
    if (limits.empty()) return std::vector<LimitStatus>{};
    LimitTally tally{std::move(limits)};
    each_running(
        db, [&](const LimitNames& names, std::int64_t count) { tally.add_running(names, count); });
    auto buckets = db.use("SELECT scope, name, parts, at FROM holdfast_buckets");
    while (buckets.step())
      tally.add_bucket(static_cast<LimitScope>(buckets.integer(0)), buckets.text(1),
                       {buckets.integer(2), buckets.time(3)});
    return tally.statuses(store_.clock.wall());
  });
}

}  // namespace holdfast::sqlite
