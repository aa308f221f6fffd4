#include <algorithm>
#include <limits>
#include <tuple>

#include "engines/postgres/limits.hpp"
#include "engines/postgres/statements.hpp"
#include "recovery/backoff.hpp"

namespace holdfast::postgres {

namespace {

#define HOLDFAST_AGE " CASE WHEN t.run_at = 0 THEN t.created_at ELSE t.run_at END AS since, t.seq "

/// The tasks of stream `o` in their order. Which index is to be used is said before it.
#define HOLDFAST_OF_STREAM                                                               \
  " t.priority = $1 AND t.queue = o.queue AND t.kind = o.kind AND t.suspect = o.suspect" \
  " AND (t.run_at, t.seq) >= (o.first, o.seq) AND t.run_at <= least(o.last, {wall})"     \
  " ORDER BY t.run_at, t.seq"                                                            \
  " LIMIT o.most "

#define HOLDFAST_TAKE(which)                                                                       \
  "UPDATE hf.tasks t SET state = {running}, token = greatest(t.token + 1, {micros}), owner = $8,"  \
  " lease_until = {steady} + $9, claimed_at = {wall}, attempt = t.attempt + 1"                     \
  " FROM (SELECT ctid FROM hf.tasks WHERE " which                                                  \
  " AND priority = $1 AND queue = $2"                                                              \
  " AND kind = $3 AND suspect = $4 AND (run_at, seq) >= ($5, $11) AND run_at <= least($6, {wall})" \
  " ORDER BY run_at, seq LIMIT $7 FOR UPDATE SKIP LOCKED) c WHERE t.ctid = c.ctid"                 \
  " RETURNING t.id, t.token, t.attempt, t.max_attempts, t.timeout, t.suspect, t.backoff,"          \
  " t.payload, CASE WHEN t.run_at = 0 THEN t.created_at ELSE t.run_at END, t.seq"

constexpr std::int64_t any_time = std::numeric_limits<std::int64_t>::max();

struct Taken {
  std::int64_t since = 0;
  std::int64_t seq = 0;
  Claimed claimed{};
};

Taken read_taken(const Rows& row, const std::string& queue, const std::string& kind) {
  Taken taken;
  auto& one = taken.claimed;
  one.lease = {row.task_id(0), Token{row.integer(1)}};
  one.queue = queue;
  one.kind = kind;
  one.attempt = row.small(2);
  one.max_attempts = row.small(3);
  one.timeout = Millis{row.integer(4)};
  one.suspect = row.yes(5);
  if (!row.is_null(6)) one.backoff = parse_backoff(row.text(6));
  one.payload = row.text(7);
  taken.since = row.integer(8);
  one.ready_at = WallTime{Millis{taken.since}};
  taken.seq = row.integer(9);
  return taken;
}

}  // namespace

/// Tasks of a group that lie next to each other in the index, in the order of their age.
struct Claiming::Stream {
  const ReadyGroup* group = nullptr;
  bool suspect = false;
  std::int64_t from = 0;  ///< of the time that they are to run at
  std::int64_t to = 0;
  std::int64_t limit = 0;
  /// Of those that are to run at the first time, the number of the first. What has become ready
  /// since it was looked for, with a lower number, is for the next claim.
  std::int64_t first = 0;
};

void Claiming::queue_look(Connection& db) const {
  db.queue("SELECT pg_advisory_xact_lock_shared" HOLDFAST_LOCK_OF_LIMITS
           " FROM hf.workers WHERE id = $1 AND died_at IS NULL AND stopped_at IS NULL FOR SHARE",
           request_.worker);
  // A statement of its own: it must see limits that were set until the one before got its lock.
  queue_groups(db, request_);
}

void Claiming::take(Connection& db, Rows alive, Rows rows, Exchanged& into) {
  into.buried = !alive.next();
  if (into.buried) return;
  auto groups = read_groups(std::move(rows));
  if (std::ranges::any_of(groups, &ReadyGroup::limited)) groups = look_within_limits(db);
  Room room{request_.limit, request_.max_suspects};
  for (std::span left{groups}; !left.empty() && room.tasks > 0;) {
    auto end = std::ranges::find_if(
        left, [&](const auto& group) { return group.priority != left.front().priority; });
    auto same = left.first(static_cast<std::size_t>(end - left.begin()));
    left = left.subspan(same.size());
    take_of_priority(db, same, room, into);
  }
  if (limits_) queue_buckets(db, *limits_);
}

std::vector<ReadyGroup> Claiming::look_within_limits(Connection& db) {
  queue_turn_of_limited_claim(db);
  queue_allowance(db);
  queue_groups_by_key(db, request_);
  auto results = db.collect();
  auto groups = read_groups_by_key(std::move(results[3]), std::move(results[4]));
  limits_ = read_allowance(db, std::move(results[1]), std::move(results[2]), groups);
  return groups;
}

void Claiming::take_of_priority(Connection& db, std::span<const ReadyGroup> groups, Room& room,
                                Exchanged& into) {
  std::vector<Stream> streams;
  for (const auto& group : groups) {
    auto most = limits_ ? limits_->room(group.names(), room.tasks) : room.tasks;
    if (most == 0) continue;
    if (group.fresh) streams.push_back({&group, false, 0, 0, most, *group.fresh});
    if (group.due) streams.push_back({&group, false, 1, any_time, most});
    if (group.suspects && room.suspects > 0)
      streams.push_back({&group, true, 0, any_time, std::min(most, room.suspects)});
  }
  if (streams.size() > 1) {
    share_out(db, streams, room);
  } else if (limits_ && !streams.empty()) {
    for (int i = 0; i < streams.front().limit; ++i) limits_->take(streams.front().group->names());
  }
  if (streams.empty()) return;
  for (const auto& stream : streams) queue_stream(db, stream);
  auto results = db.collect();
  std::vector<Taken> taken;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto& group = *streams[i].group;
    auto& rows = results[results.size() - streams.size() + i];
    if (limits_) limits_->put_back(group.names(), streams[i].limit - rows.count());
    db.counts().move(group.queue, TaskState::pending, TaskState::running, rows.count());
    while (rows.next()) taken.push_back(read_taken(rows, group.queue, group.kind));
  }
  std::ranges::sort(taken, {}, [](const Taken& one) { return std::tuple{one.since, one.seq}; });
  for (auto& one : taken) {
    --room.tasks;
    if (one.claimed.suspect) --room.suspects;
    into.claimed.push_back(std::move(one.claimed));
  }
}

/// How many each stream is to give, so that the oldest of all are taken, and no more rows are
/// locked than are taken. Who else claims at the same time may take some of them first; then others
/// of the same stream come in their place.
void Claiming::share_out(Connection& db, std::vector<Stream>& streams, Room room) {
  Array queues{Type::text}, kinds{Type::text}, keyed{Type::boolean}, keys{Type::text},
      suspect{Type::boolean}, from{Type::bigint}, to{Type::bigint}, limits{Type::bigint},
      first{Type::bigint};
  for (const auto& stream : streams) {
    const auto& group = *stream.group;
    queues.add(group.queue);
    kinds.add(group.kind);
    keyed.add(group.keyed);
    group.key.empty() ? keys.add_null() : keys.add(group.key);
    suspect.add(stream.suspect);
    from.add(stream.from);
    to.add(stream.to);
    limits.add(stream.limit);
    first.add(stream.first);
  }
  // Of what shares a limit more may be looked at than there is room for.
  auto enough = limits_ ? any_time : room.tasks + std::ssize(streams) * room.suspects;
  auto rows = db.run(
      "SELECT o.n FROM unnest($2::text[], $3::text[], $4::boolean[], $5::text[], $6::boolean[],"
      " $7::bigint[], $8::bigint[], $9::bigint[], $11::bigint[]) WITH ORDINALITY AS"
      " o(queue, kind, keyed, key, suspect, first, last, most, seq, n) CROSS JOIN LATERAL"
      " ((SELECT" HOLDFAST_AGE
      "FROM hf.tasks t WHERE o.key IS NULL AND t.state = {pending}"
      " AND t.keyed = o.keyed AND" HOLDFAST_OF_STREAM
      ") UNION ALL"
      " (SELECT" HOLDFAST_AGE
      "FROM hf.tasks t WHERE t.state < {running} AND t.keyed"
      " AND t.limit_key = o.key AND" HOLDFAST_OF_STREAM ")) c ORDER BY c.since, c.seq LIMIT $10",
      streams.front().group->priority, queues.value(), kinds.value(), keyed.value(), keys.value(),
      suspect.value(), from.value(), to.value(), limits.value(), enough, first.value());
  for (auto& stream : streams) stream.limit = 0;
  while (room.tasks > 0 && rows.next()) {
    auto& stream = streams[static_cast<std::size_t>(rows.integer(0)) - 1];
    if (stream.suspect && room.suspects == 0) continue;
    if (limits_ && !limits_->take(stream.group->names())) continue;
    if (stream.suspect) --room.suspects;
    ++stream.limit;
    --room.tasks;
  }
  std::erase_if(streams, [](const Stream& stream) { return stream.limit == 0; });
}

void Claiming::queue_stream(Connection& db, const Stream& stream) const {
  const auto& group = *stream.group;
  if (group.key.empty()) {
    db.queue(HOLDFAST_TAKE("state = {pending} AND keyed = $10"), group.priority, group.queue,
             group.kind, stream.suspect, stream.from, stream.to, stream.limit, request_.worker,
             request_.lease, group.keyed, stream.first);
  } else {
    db.queue(HOLDFAST_TAKE("state < {running} AND keyed AND limit_key = $10"), group.priority,
             group.queue, group.kind, stream.suspect, stream.from, stream.to, stream.limit,
             request_.worker, request_.lease, group.key, stream.first);
  }
}

}  // namespace holdfast::postgres
