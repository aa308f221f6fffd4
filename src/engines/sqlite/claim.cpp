#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "engines/sqlite/handfuls.hpp"
#include "engines/sqlite/limits.hpp"
#include "engines/sqlite/statements.hpp"
#include "engines/sqlite/task_change.hpp"
#include "recovery/actors.hpp"

namespace holdfast::sqlite {

namespace {

struct Lane {
  std::int64_t id = 0;
  std::string queue;
  std::string kind;
  std::string key;
  LimitNames names() const { return {queue, kind, key}; }
};

bool wanted(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The lane, if the request may claim from it now.
std::optional<Lane> open_lane(Connection& db, const ClaimRequest& request, std::int64_t id) {
  auto find = db.use(
      "SELECT queue, kind, key, sum FROM holdfast_lanes WHERE lane = ?"
      " AND queue NOT IN (SELECT queue FROM holdfast_paused)");
  find.bind(id);
  if (!find.step()) return {};
  Lane lane{id, find.text(0), find.text(1), find.text(2)};
  // Damaged names: nobody knows what kind of work this is.
  if (lane_sum(lane.queue, lane.kind, lane.key) != find.integer(3)) return {};
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
      " WHERE state = {pending} AND (priority, lane) >= (?, ?) ORDER BY priority, lane LIMIT 1");
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
    "SELECT run_at, seq FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = {pending}"
    " AND priority = ? AND lane = ? AND suspect = 0 AND run_at = 0 ORDER BY seq LIMIT ?";
constexpr const char* due_rows =
    "SELECT run_at, seq FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = {pending}"
    " AND priority = ? AND lane = ? AND suspect = 0 AND run_at > 0 AND run_at <= ?4"
    " ORDER BY run_at, seq LIMIT ?3";
constexpr const char* suspect_rows =
    "SELECT run_at, seq FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = {pending}"
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

/// Tasks of one priority that may run now, oldest first. Of every lane only as many are looked at
/// as its limits allow, so what they hold back is not in the way of other lanes.
std::vector<Candidate> candidates(Connection& db, int priority, const std::vector<Lane>& lanes,
                                  WallTime now, int wanted, int suspects, Allowance* limits) {
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
    int room = limits ? limits->room(lane.names(), wanted) : wanted;
    if (room == 0) continue;
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

const RowList take_sql{
    "UPDATE holdfast_tasks SET state = {running}, token = max(token + 1, ?1), owner = ?2,"
    " lease_until = ?3, claimed_at = ?4, attempt = attempt + 1,"
    " row_sum = holdfast_take(?6, " HOLDFAST_CHECKED
    ") WHERE lane = ?5 AND state = {pending} AND seq IN (",
    ")"};

/// What is about to be claimed: tasks of one lane, by the worker of the row `owner`.
struct Taking {
  const ClaimRequest& request;
  const ClaimTime& now;
  std::int64_t owner = 0;
};

/// Claims rows of one lane, and returns them as they were before.
std::vector<CheckedRow> take_rows(Connection& db, const Taking& taking, std::int64_t lane,
                                  std::span<const Candidate* const> chosen) {
  const auto& now = taking.now;
  TakenRows taken{.token_floor = now.token_floor};
  taken.rows.reserve(chosen.size());
  auto update = db.use(take_sql.text(chosen.size()));
  update.bind(now.token_floor, taking.owner, now.steady + taking.request.lease, now.wall, lane);
  update.bind_pointer(6, &taken, taken_rows_type);
  int at = 7;
  for (const auto* candidate : chosen) update.bind_from(at++, candidate->seq);
  update.run();
  return std::move(taken.rows);
}

Claimed claimed_task(CheckedRow&& row, const Lane& lane, std::int64_t token_floor) {
  const auto& numbers = row.numbers;
  Claimed one;
  one.lease = {numbers.id, Token{std::max(numbers.token + 1, token_floor)}, row.seq};
  one.kind = lane.kind;
  one.queue = lane.queue;
  one.attempt = static_cast<int>(numbers.attempt) + 1;
  one.max_attempts = static_cast<int>(numbers.max_attempts);
  one.timeout = Millis{numbers.timeout};
  one.suspect = numbers.suspect != 0;
  one.ready_at = WallTime{Millis{numbers.run_at > 0 ? numbers.run_at : numbers.created_at}};
  if (row.backoff) one.backoff = parse_backoff(*row.backoff);
  one.payload = std::move(row.payload);
  return one;
}

/// The row is sound, but it is no pending task of the lane: it is the index that led here.
Damage misled(Connection& db, std::int64_t seq) {
  auto find = db.use("SELECT id FROM holdfast_tasks WHERE seq = ?");
  find.bind(seq);
  if (!find.step()) return {Damage::Kind::index, "The index of ready tasks names no task.", {}};
  auto id = find.task_id(0);
  return {Damage::Kind::index,
          fmt::format("The index of ready tasks names task {} by mistake.", id.text()), id};
}

/// What an earlier attempt recorded is given to the handler too, so it must be what it was.
void compare_effects(Connection& db, CheckedRow& row) {
  auto effects = db.use("SELECT key, value, sum FROM holdfast_effects WHERE task = ?");
  effects.bind(row.seq);
  while (effects.step()) {
    if (effect_sum(row.seq, effects.text(0), effects.text(1)) == effects.integer(2)) continue;
    row.damage = DamagedRow{row.seq, row.numbers.id, false,
                            fmt::format("What task {} recorded for '{}' is damaged.",
                                        row.numbers.id.text(), effects.text(0))};
    return;
  }
}

/// So must the row of a transaction be.
void compare_transaction(Connection& db, CheckedRow& row) {
  if (transaction_fits(db, row.seq)) return;
  row.damage = damaged_transaction(row.seq, row.numbers.id);
}

/// Damage is not for a handler: the task waits for a person, as if it had not been claimed.
void hold_damaged(Connection& db, const DamagedRow& row, WallTime now) {
  constexpr std::string_view cause = "damaged";
  db.use(
        "UPDATE holdfast_tasks SET state = {held}, cause = ?, error = ?, attempt = attempt - 1,"
        " owner = NULL, lease_until = NULL, claimed_at = NULL WHERE seq = ?")
      .bind(cause, row.what, row.seq)
      .run();
  seal(db, row.seq);
  add_history(db, row.seq,
              {{TaskState::pending,
                TaskState::held,
                std::string{actors::integrity},
                row.what,
                {},
                0,
                now}});
}

/// Claims up to `RowList::longest` tasks of one lane. Those that are not what they were when they
/// were written go to `into.damaged`, the others to their places in `claimed`, which are those of
/// the candidates in `all`.
void take_handful(Connection& db, const Taking& taking, std::span<const Candidate> all,
                  std::span<const Candidate*> handful, std::span<Claimed> claimed,
                  Exchanged& into) {
  const auto& lane = *handful.front()->lane;
  auto rows = take_rows(db, taking, lane.id, handful);
  db.counts().move(lane.id, TaskState::pending, TaskState::running, std::ssize(rows));
  std::ranges::sort(handful, {}, &Candidate::seq);
  std::ranges::sort(rows, {}, &CheckedRow::seq);
  auto row = rows.begin();
  for (const auto* candidate : handful) {
    if (row == rows.end() || row->seq != candidate->seq) {
      into.damaged.push_back(misled(db, candidate->seq));
      continue;
    }
    bool claimed_before = row->numbers.token > 0;
    if (claimed_before && !row->damage) compare_effects(db, *row);
    if (claimed_before && !row->damage) compare_transaction(db, *row);
    if (row->damage) {
      hold_damaged(db, *row->damage, taking.now.wall);
      db.counts().move(lane.id, TaskState::running, TaskState::held);
      into.damaged.push_back({Damage::Kind::row, row->damage->what, row->damage->id});
    } else {
      auto at = static_cast<std::size_t>(candidate - all.data());
      claimed[at] = claimed_task(std::move(*row), lane, taking.now.token_floor);
    }
    ++row;
  }
}

/// Claims the chosen tasks and adds them to `into.claimed` in their order.
void take(Connection& db, std::span<const Candidate> chosen, const Taking& taking,
          Exchanged& into) {
  std::map<std::int64_t, std::vector<const Candidate*>> by_lane;
  for (const auto& candidate : chosen) by_lane[candidate.lane->id].push_back(&candidate);
  auto first = into.claimed.size();
  into.claimed.resize(first + chosen.size());
  for (auto& [lane, candidates] : by_lane) {
    for (std::span<const Candidate*> left{candidates}; !left.empty();) {
      auto handful = left.first(std::min(left.size(), RowList::longest));
      left = left.subspan(handful.size());
      take_handful(db, taking, chosen, handful, std::span{into.claimed}.subspan(first), into);
    }
  }
  std::erase_if(into.claimed, [](const Claimed& one) { return one.lease.place == 0; });
}

}  // namespace

void claim_tasks(Connection& db, const ClaimRequest& request, const ClaimTime& now, bool limited,
                 Exchanged& into) {
  auto find_owner = db.use(
      "SELECT seq FROM holdfast_workers WHERE id = ? AND died_at IS NULL AND stopped_at IS NULL");
  find_owner.bind(request.worker);
  into.buried = !find_owner.step();
  if (into.buried) return;
  auto owner = find_owner.integer(0);

  auto allowance = limited ? read_allowance(db, now.wall) : std::nullopt;
  auto* limits = allowance ? &*allowance : nullptr;
  int room = request.limit, suspects = request.max_suspects;
  for (const auto& [priority, lanes] : open_lanes(db, request)) {
    std::vector<Candidate> chosen;
    for (const auto& candidate :
         candidates(db, priority, lanes, now.wall, room, suspects, limits)) {
      if (room == 0) break;
      if (candidate.suspect && suspects == 0) continue;
      // Lanes may share a limit, so what each has room for may be too much for all of them.
      if (limits && !limits->take(candidate.lane->names())) continue;
      if (candidate.suspect) --suspects;
      chosen.push_back(candidate);
      --room;
    }
    take(db, chosen, {request, now, owner}, into);
    if (room == 0) break;
  }
  if (limits) write_buckets(db, *limits, now.wall);
}

std::optional<WallTime> earliest_due(Connection& db, const ClaimRequest& request, WallTime now) {
  std::optional<WallTime> earliest;
  auto limits = read_allowance(db, now);
  for (const auto& [priority, lanes] : open_lanes(db, request)) {
    for (const auto& lane : lanes) {
      std::optional<WallTime> not_before = WallTime{};
      if (limits && limits->room(lane.names(), 1) == 0) not_before = limits->room_at(lane.names());
      if (!not_before) continue;
      auto query = db.use(
          "SELECT run_at FROM holdfast_tasks INDEXED BY holdfast_ready WHERE state = {pending}"
          " AND priority = ? AND lane = ? AND suspect = ? ORDER BY run_at LIMIT 1");
      for (bool suspect : {false, true}) {
        if (query.bind(priority, lane.id, suspect).step()) {
          auto due = std::max(query.time(0), *not_before);
          earliest = earliest ? std::min(*earliest, due) : due;
        }
        query.again();
      }
    }
  }
  return earliest;
}

}  // namespace holdfast::sqlite
