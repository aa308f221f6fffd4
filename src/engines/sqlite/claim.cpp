#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "engines/sqlite/handfuls.hpp"
#include "engines/sqlite/statements.hpp"

namespace holdfast::sqlite {

namespace {

struct Lane {
  std::int64_t id = 0;
  std::string queue;
  std::string kind;
};

bool wanted(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The lane, if the request may claim from it now.
std::optional<Lane> open_lane(Connection& db, const ClaimRequest& request, std::int64_t id) {
  auto find = db.use(
      "SELECT queue, kind, sum FROM holdfast_lanes WHERE lane = ?"
      " AND queue NOT IN (SELECT queue FROM holdfast_paused)");
  find.bind(id);
  if (!find.step()) return {};
  Lane lane{id, find.text(0), find.text(1)};
  // Damaged names: nobody knows what kind of work this is.
  if (lane_sum(lane.queue, lane.kind) != find.integer(2)) return {};
  if (!request.queues.empty() && !wanted(request.queues, lane.queue)) return {};
  if (!wanted(request.kinds, lane.kind)) return {};
  return lane;
}

/// The lanes with pending tasks that the request may claim from, by priority. Jumps through the
/// index from one group to the next, so lanes without pending tasks and the number of tasks in
/// lanes that are not wanted cost nothing. The jump asks for `>=` the place after the last group:
/// for `>` SQLite would seek to the group itself and walk through all of its tasks.
std::map<int, std::vector<Lane>> open_lanes(Connection& db, const ClaimRequest& request) {
  std::map<int, std::vector<Lane>> open;
  std::map<std::int64_t, std::optional<Lane>> known;
  auto next = db.use(
      "SELECT priority, lane FROM holdfast_tasks INDEXED BY holdfast_ready"
      " WHERE state = 0 AND (priority, lane) >= (?, ?) ORDER BY priority, lane LIMIT 1");
  std::int64_t priority = 0, lane = 0;
  while (next.bind(priority, lane).step()) {
    priority = next.integer(0);
    lane = next.integer(1);
    next.again();
    auto [at, is_new] = known.try_emplace(lane);
    if (is_new) at->second = open_lane(db, request, lane);
    ++lane;
    if (at->second) open[static_cast<int>(priority)].push_back(*at->second);
  }
  return open;
}

struct Candidate {
  std::int64_t run_at = 0;  ///< 0: ready from the beginning
  std::int64_t seq = 0;
  bool suspect = false;
  const Lane* lane = nullptr;
  WallTime since{};  ///< when it became ready
  auto age() const { return std::pair{since, seq}; }
};

/// Which rows of a lane to look at. Each is found in the index alone, already in the order of age.
constexpr const char* ready_rows =
    "SELECT run_at, seq FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = 0"
    " AND priority = ? AND lane = ? AND suspect = 0 AND run_at = 0 ORDER BY seq LIMIT ?";
constexpr const char* due_rows =
    "SELECT run_at, seq FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = 0"
    " AND priority = ? AND lane = ? AND suspect = 0 AND run_at > 0 AND run_at <= ?4"
    " ORDER BY run_at, seq LIMIT ?3";
constexpr const char* suspect_rows =
    "SELECT run_at, seq FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = 0"
    " AND priority = ? AND lane = ? AND suspect = 1 AND run_at <= ?4 ORDER BY run_at, seq LIMIT ?3";

/// When those became ready that were so from the beginning. Needed only to tell who is older where
/// some are not; among themselves their numbers say it.
void find_since(Connection& db, std::vector<Candidate>& candidates) {
  auto find = db.use("SELECT created_at FROM holdfast_tasks WHERE seq = ?");
  for (auto& candidate : candidates) {
    candidate.since = WallTime{Millis{candidate.run_at}};
    if (candidate.run_at > 0 || !find.bind(candidate.seq).step()) continue;
    candidate.since = find.time(0);
    find.again();
  }
}

/// Tasks of one priority that may run now, oldest first.
std::vector<Candidate> candidates(Connection& db, int priority, const std::vector<Lane>& lanes,
                                  WallTime now, int room, int suspects) {
  std::vector<Candidate> found;
  bool mixed = false;
  auto look = [&](const char* rows, const Lane& lane, int limit, bool suspect) {
    auto query = db.use(rows);
    query.bind(priority, lane.id, limit);
    if (rows != ready_rows) query.bind_from(4, now);
    while (query.step()) {
      found.push_back({query.integer(0), query.integer(1), suspect, &lane});
      mixed |= found.back().run_at > 0;
    }
  };
  for (const auto& lane : lanes) {
    look(ready_rows, lane, room, false);
    look(due_rows, lane, room, false);
    if (suspects > 0) look(suspect_rows, lane, std::min(room, suspects), true);
  }
  if (mixed) find_since(db, found);
  // What is ready from the beginning was written as run_at = 0, so that a wall clock that is set
  // back does not make it wait.
  std::sort(found.begin(), found.end(),
            [](const Candidate& a, const Candidate& b) { return a.age() < b.age(); });
  return found;
}

const RowList read_sql{"SELECT " HOLDFAST_SUMMED
                       ", seq, row_sum, tags, unique_key, backoff, payload FROM holdfast_tasks"
                       " WHERE seq IN (",
                       ")"};

const RowList take_sql{
    "UPDATE holdfast_tasks SET state = 1, token = max(token + 1, ?1), owner = ?2,"
    " lease_until = ?3, claimed_at = ?4, attempt = attempt + 1,"
    " row_sum = holdfast_row_sum(id, lane, 1, priority, run_at, max(token + 1, ?1), attempt + 1,"
    " recoveries, crashes, suspect, cancel_requested, created_at, max_attempts, timeout,"
    " payload_sum) WHERE seq IN (",
    ")"};

/// Adds the chosen tasks to `claimed`, in their order. Those that are not what they were when they
/// were written are left out and go to `damaged`.
void read_intact(Connection& db, std::span<const Candidate> chosen, std::int64_t token_floor,
                 std::vector<Claimed>& claimed, std::vector<DamagedRow>& damaged) {
  std::unordered_map<std::int64_t, const Candidate*> places;
  auto read = db.use(read_sql.text(chosen.size()));
  int at = 1;
  for (const auto& candidate : chosen) {
    places.emplace(candidate.seq, &candidate);
    read.bind_from(at++, candidate.seq);
  }
  auto first = claimed.size();
  claimed.resize(first + chosen.size());
  while (read.step()) {
    auto row = read_checked(read);
    if (row.damage) {
      damaged.push_back(*row.damage);
      continue;
    }
    const auto* candidate = places.at(row.seq);
    auto& one = claimed[first + static_cast<std::size_t>(candidate - chosen.data())];
    const auto& numbers = row.numbers;
    if (numbers.state != static_cast<std::int64_t>(TaskState::pending) ||
        numbers.lane != candidate->lane->id) {
      // The row is sound: it is the index that led here by mistake.
      damaged.push_back({.id = numbers.id,
                         .what = fmt::format("The index of ready tasks names task {} by mistake.",
                                             numbers.id.text())});
      continue;
    }
    one.lease = {numbers.id, Token{std::max(numbers.token + 1, token_floor)}, row.seq};
    one.kind = candidate->lane->kind;
    one.queue = candidate->lane->queue;
    one.attempt = static_cast<int>(numbers.attempt) + 1;
    one.max_attempts = static_cast<int>(numbers.max_attempts);
    one.timeout = Millis{numbers.timeout};
    one.suspect = numbers.suspect != 0;
    if (row.backoff) one.backoff = parse_backoff(*row.backoff);
    one.payload = std::move(row.payload);
  }
  std::erase_if(claimed, [](const Claimed& one) { return one.lease.place == 0; });
}

void mark_claimed(Connection& db, std::span<const Claimed> tasks, std::int64_t owner,
                  const ClaimRequest& request, const ClaimTime& now) {
  if (tasks.empty()) return;
  auto update = db.use(take_sql.text(tasks.size()));
  update.bind(now.token_floor, owner, now.steady + request.lease, now.wall);
  int at = 5;
  for (const auto& one : tasks) update.bind_from(at++, one.lease.place);
  update.run();
}

/// Damage is not for a handler: the task waits for a person.
void hold_damaged(Connection& db, const DamagedRow& row, WallTime now) {
  constexpr std::string_view cause = "damaged";
  db.use("UPDATE holdfast_tasks SET state = 6, cause = ?, error = ? WHERE seq = ?")
      .bind(cause, row.what, row.seq)
      .run();
  seal(db, row.seq);
  add_history(db, {.task = row.seq,
                   .from = TaskState::pending,
                   .to = TaskState::held,
                   .actor = "system/integrity",
                   .reason = row.what,
                   .at = now});
}

void take(Connection& db, std::span<const Candidate> chosen, std::int64_t owner,
          const ClaimRequest& request, const ClaimTime& now, Exchanged& into) {
  std::vector<DamagedRow> damaged;
  while (!chosen.empty()) {
    auto handful = chosen.first(std::min(chosen.size(), RowList::longest));
    chosen = chosen.subspan(handful.size());
    auto before = into.claimed.size();
    read_intact(db, handful, now.token_floor, into.claimed, damaged);
    mark_claimed(db, std::span{into.claimed}.subspan(before), owner, request, now);
  }
  for (const auto& row : damaged) {
    if (row.seq > 0) hold_damaged(db, row, now.wall);
    into.damaged.push_back(
        {row.seq > 0 ? Damage::Kind::row : Damage::Kind::index, row.what, row.id});
  }
}

}  // namespace

void claim_tasks(Connection& db, const ClaimRequest& request, const ClaimTime& now,
                 Exchanged& into) {
  auto find_owner = db.use(
      "SELECT seq FROM holdfast_workers WHERE id = ? AND died_at IS NULL AND stopped_at IS NULL");
  find_owner.bind(request.worker);
  into.buried = !find_owner.step();
  if (into.buried) return;
  auto owner = find_owner.integer(0);

  int room = request.limit, suspects = request.max_suspects;
  for (const auto& [priority, lanes] : open_lanes(db, request)) {
    std::vector<Candidate> chosen;
    for (const auto& candidate : candidates(db, priority, lanes, now.wall, room, suspects)) {
      if (room == 0) break;
      if (candidate.suspect && --suspects < 0) continue;
      chosen.push_back(candidate);
      --room;
    }
    take(db, chosen, owner, request, now, into);
    if (room == 0) return;
    suspects = std::max(suspects, 0);
  }
}

std::optional<WallTime> earliest_due(Connection& db, const ClaimRequest& request) {
  std::optional<WallTime> earliest;
  for (const auto& [priority, lanes] : open_lanes(db, request)) {
    for (const auto& lane : lanes) {
      auto query = db.use(
          "SELECT run_at FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = 0"
          " AND priority = ? AND lane = ? AND suspect = ? ORDER BY run_at LIMIT 1");
      for (bool suspect : {false, true}) {
        if (query.bind(priority, lane.id, suspect).step() &&
            (!earliest || query.time(0) < *earliest))
          earliest = query.time(0);
        query.again();
      }
    }
  }
  return earliest;
}

}  // namespace holdfast::sqlite
