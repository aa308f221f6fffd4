#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

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
      "SELECT queue, kind FROM holdfast_lanes WHERE lane = ?"
      " AND queue NOT IN (SELECT queue FROM holdfast_paused)");
  find.bind(id);
  if (!find.step()) return {};
  Lane lane{id, find.text(0), find.text(1)};
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
  WallTime since{};  ///< when it became ready
  std::int64_t seq = 0;
  bool suspect = false;
  const Lane* lane = nullptr;
  auto age() const { return std::pair{since, seq}; }
};

/// Adds the first rows of `query` that there is room for.
void collect(Statement& query, const Lane& lane, int room, int suspects,
             std::vector<Candidate>& into) {
  while (room > 0 && query.step()) {
    bool suspect = query.integer(2) != 0;
    if (suspect && --suspects < 0) continue;
    into.push_back({query.time(0), query.integer(1), suspect, &lane});
    --room;
  }
}

/// Tasks of one priority that may run now, oldest first. Most were ready from the beginning, which
/// is written as run_at = 0, so that a wall clock that is set back does not make them wait.
std::vector<Candidate> candidates(Connection& db, int priority, const std::vector<Lane>& lanes,
                                  WallTime now, int room, int suspects) {
  std::vector<Candidate> found;
  for (const auto& lane : lanes) {
    auto ready = db.use(
        "SELECT created_at, seq, suspect FROM holdfast_tasks INDEXED BY holdfast_ready"
        " WHERE state = 0 AND priority = ? AND lane = ? AND run_at = 0 ORDER BY seq");
    collect(ready.bind(priority, lane.id), lane, room, suspects, found);
    auto due = db.use(
        "SELECT run_at, seq, suspect FROM holdfast_tasks INDEXED BY holdfast_ready"
        " WHERE state = 0 AND priority = ? AND lane = ? AND run_at > 0 AND run_at <= ?"
        " ORDER BY run_at, seq");
    collect(due.bind(priority, lane.id, now), lane, room, suspects, found);
  }
  std::sort(found.begin(), found.end(),
            [](const Candidate& a, const Candidate& b) { return a.age() < b.age(); });
  return found;
}

/// Claims `chosen` and adds them in that order. One statement for all of them: starting one for
/// each costs more than what it does.
void take(Connection& db, const std::vector<Candidate>& chosen, std::int64_t owner,
          const ClaimRequest& request, const ClaimTime& now, std::vector<Claimed>& into) {
  if (chosen.empty()) return;
  std::unordered_map<std::int64_t, std::size_t> places;
  std::vector<std::int64_t> seqs;
  for (const auto& candidate : chosen) {
    places.emplace(candidate.seq, into.size() + seqs.size());
    seqs.push_back(candidate.seq);
  }
  auto list = fmt::format("[{}]", fmt::join(seqs, ","));
  auto update = db.use(
      "UPDATE holdfast_tasks SET state = 1, token = max(token + 1, ?2), owner = ?3,"
      " lease_until = ?4, claimed_at = ?5, attempt = attempt + 1"
      " WHERE seq IN (SELECT value FROM json_each(?1))");
  update.bind(list, now.token_floor, owner, now.steady + request.lease, now.wall).run();

  auto read = db.use(
      "SELECT seq, id, token, attempt, max_attempts, timeout, suspect, backoff, payload"
      " FROM holdfast_tasks WHERE seq IN (SELECT value FROM json_each(?))");
  into.resize(into.size() + chosen.size());
  for (read.bind(list); read.step();) {
    auto& claimed = into[places.at(read.integer(0))];
    claimed.lease = {read.task_id(1), Token{read.integer(2)}};
    claimed.attempt = static_cast<int>(read.integer(3));
    claimed.max_attempts = static_cast<int>(read.integer(4));
    claimed.timeout = Millis{read.integer(5)};
    claimed.suspect = read.integer(6) != 0;
    if (!read.is_null(7)) claimed.backoff = parse_backoff(read.text(7));
    claimed.payload = read.text(8);
  }
  auto first = into.end() - std::ssize(chosen);
  for (const auto& candidate : chosen) {
    first->kind = candidate.lane->kind;
    first->queue = candidate.lane->queue;
    ++first;
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
    take(db, chosen, owner, request, now, into.claimed);
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
          " AND priority = ? AND lane = ? ORDER BY run_at LIMIT 1");
      query.bind(priority, lane.id);
      if (query.step() && (!earliest || query.time(0) < *earliest)) earliest = query.time(0);
    }
  }
  return earliest;
}

}  // namespace holdfast::sqlite
