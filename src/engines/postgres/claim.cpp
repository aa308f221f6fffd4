#include <algorithm>
#include <limits>
#include <tuple>

#include "engines/postgres/statements.hpp"
#include "recovery/backoff.hpp"

namespace holdfast::postgres {

namespace {

/// Jumps through the index from one group of ready tasks to the next, so that the number of tasks
/// in groups that are not wanted costs nothing. $1 kinds, $2 whether all queues, $3 queues.
#define HOLDFAST_OPEN_GROUPS                                                                     \
  "WITH RECURSIVE g AS ((SELECT priority, queue, kind FROM hf.tasks WHERE state = 0"             \
  " ORDER BY priority, queue, kind LIMIT 1) UNION ALL SELECT n.priority, n.queue, n.kind FROM g" \
  " CROSS JOIN LATERAL (SELECT t.priority, t.queue, t.kind FROM hf.tasks t WHERE t.state = 0"    \
  " AND (t.priority, t.queue, t.kind) > (g.priority, g.queue, g.kind)"                           \
  " ORDER BY t.priority, t.queue, t.kind LIMIT 1) n),"                                           \
  " open AS (SELECT * FROM g WHERE kind = ANY($1) AND ($2 OR queue = ANY($3))"                   \
  " AND NOT EXISTS (SELECT 1 FROM hf.paused p WHERE p.queue = g.queue)) "

#define HOLDFAST_OF_GROUP \
  " t.state = 0 AND t.priority = o.priority AND t.queue = o.queue AND t.kind = o.kind "

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
};

void Claiming::queue_look(Connection& db) const {
  db.queue(
      "SELECT 1 FROM hf.workers WHERE id = $1 AND died_at IS NULL AND stopped_at IS NULL"
      " FOR SHARE",
      request_.worker);
  db.queue(HOLDFAST_OPEN_GROUPS
           "SELECT o.priority, o.queue, o.kind,"
           " EXISTS (SELECT 1 FROM hf.tasks t WHERE" HOLDFAST_OF_GROUP
           "AND t.suspect = false AND t.run_at = 0),"
           " EXISTS (SELECT 1 FROM hf.tasks t WHERE" HOLDFAST_OF_GROUP
           "AND t.suspect = false AND t.run_at > 0 AND t.run_at <= {wall}),"
           " EXISTS (SELECT 1 FROM hf.tasks t WHERE" HOLDFAST_OF_GROUP
           "AND t.suspect = true AND t.run_at <= {wall}) FROM open o ORDER BY o.priority",
           request_.kinds, request_.queues.empty(), request_.queues);
}

void Claiming::take(Connection& db, Rows alive, Rows rows, Exchanged& into) const {
  into.buried = !alive.next();
  if (into.buried) return;
  std::vector<ReadyGroup> groups;
  while (rows.next())
    groups.push_back(
        {rows.small(0), rows.text(1), rows.text(2), rows.yes(3), rows.yes(4), rows.yes(5)});
  int room = request_.limit, suspects = request_.max_suspects;
  for (std::span left{groups}; !left.empty() && room > 0;) {
    auto end = std::ranges::find_if(
        left, [&](const auto& group) { return group.priority != left.front().priority; });
    auto same = left.first(static_cast<std::size_t>(end - left.begin()));
    left = left.subspan(same.size());
    take_of_priority(db, same, room, suspects, into);
  }
}

void Claiming::take_of_priority(Connection& db, std::span<const ReadyGroup> groups, int& room,
                                int& suspects, Exchanged& into) const {
  std::vector<Stream> streams;
  for (const auto& group : groups) {
    if (group.fresh) streams.push_back({&group, false, 0, 0, room});
    if (group.due) streams.push_back({&group, false, 1, any_time, room});
    if (group.suspects && suspects > 0)
      streams.push_back({&group, true, 0, any_time, std::min(room, suspects)});
  }
  if (streams.empty()) return;
  if (streams.size() > 1) share_out(db, streams, room, suspects);
  for (const auto& stream : streams) queue_stream(db, stream);
  auto results = db.collect();
  std::vector<Taken> taken;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto& group = *streams[i].group;
    for (auto& rows = results[results.size() - streams.size() + i]; rows.next();)
      taken.push_back(read_taken(rows, group.queue, group.kind));
  }
  std::ranges::sort(taken, {}, [](const Taken& one) { return std::tuple{one.since, one.seq}; });
  for (auto& one : taken) {
    --room;
    if (one.claimed.suspect) --suspects;
    into.claimed.push_back(std::move(one.claimed));
  }
}

/// How many each stream is to give, so that the oldest of all are taken, and no more rows are
/// locked than are taken. Who else claims at the same time may take some of them first; then others
/// of the same stream come in their place.
void Claiming::share_out(Connection& db, std::vector<Stream>& streams, int room,
                         int suspects) const {
  Array queues{Type::text}, kinds{Type::text}, suspect{Type::boolean}, from{Type::bigint},
      to{Type::bigint}, limits{Type::bigint};
  for (const auto& stream : streams) {
    queues.add(stream.group->queue);
    kinds.add(stream.group->kind);
    suspect.add(stream.suspect);
    from.add(stream.from);
    to.add(stream.to);
    limits.add(stream.limit);
  }
  auto rows = db.run(
      "SELECT o.n FROM unnest($2::text[], $3::text[], $4::boolean[], $5::bigint[], $6::bigint[],"
      " $7::bigint[]) WITH ORDINALITY AS o(queue, kind, suspect, first, last, most, n)"
      " CROSS JOIN LATERAL (SELECT CASE WHEN t.run_at = 0 THEN t.created_at ELSE t.run_at END AS"
      " since, t.seq FROM hf.tasks t WHERE t.state = 0 AND t.priority = $1 AND t.queue = o.queue"
      " AND t.kind = o.kind AND t.suspect = o.suspect AND t.run_at >= o.first"
      " AND t.run_at <= least(o.last, {wall}) ORDER BY t.run_at, t.seq LIMIT o.most) c"
      " ORDER BY c.since, c.seq LIMIT $8",
      streams.front().group->priority, queues.value(), kinds.value(), suspect.value(), from.value(),
      to.value(), limits.value(), room + static_cast<int>(streams.size()) * suspects);
  for (auto& stream : streams) stream.limit = 0;
  while (room > 0 && rows.next()) {
    auto& stream = streams[static_cast<std::size_t>(rows.integer(0)) - 1];
    if (stream.suspect && --suspects < 0) continue;
    ++stream.limit;
    --room;
  }
  std::erase_if(streams, [](const Stream& stream) { return stream.limit == 0; });
}

void Claiming::queue_stream(Connection& db, const Stream& stream) const {
  db.queue(
      "UPDATE hf.tasks t SET state = 1, token = greatest(t.token + 1, {micros}), owner = $8,"
      " lease_until = {steady} + $9, claimed_at = {wall}, attempt = t.attempt + 1"
      " FROM (SELECT ctid FROM hf.tasks WHERE state = 0 AND priority = $1 AND queue = $2"
      " AND kind = $3 AND suspect = $4 AND run_at >= $5 AND run_at <= least($6, {wall})"
      " ORDER BY run_at, seq LIMIT $7 FOR UPDATE SKIP LOCKED) c WHERE t.ctid = c.ctid"
      " RETURNING t.id, t.token, t.attempt, t.max_attempts, t.timeout, t.suspect, t.backoff,"
      " t.payload, CASE WHEN t.run_at = 0 THEN t.created_at ELSE t.run_at END, t.seq",
      stream.group->priority, stream.group->queue, stream.group->kind, stream.suspect, stream.from,
      stream.to, stream.limit, request_.worker, request_.lease);
}

std::optional<WallTime> earliest_due(Connection& db, const ClaimRequest& request) {
  auto row = db.run(HOLDFAST_OPEN_GROUPS
                    "SELECT min(least((SELECT t.run_at FROM hf.tasks t WHERE" HOLDFAST_OF_GROUP
                    "AND t.suspect = false ORDER BY t.run_at LIMIT 1),"
                    " (SELECT t.run_at FROM hf.tasks t WHERE" HOLDFAST_OF_GROUP
                    "AND t.suspect = true ORDER BY t.run_at LIMIT 1))) FROM open o",
                    request.kinds, request.queues.empty(), request.queues);
  if (!row.next()) return {};
  return row.optional_time(0);
}

}  // namespace holdfast::postgres
