#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "engines/sqlite/handfuls.hpp"
#include "engines/sqlite/statements.hpp"
#include "engines/sqlite/task_change.hpp"
#include "recovery/actors.hpp"

namespace holdfast::sqlite {

namespace {

/// The place of the task; nothing if the settlement comes too late.
std::optional<std::int64_t> complete(Connection& db, const Settlement& settlement, WallTime now) {
  std::optional<std::string_view> result;
  if (!settlement.result.empty()) result = settlement.result;
  EndedRows ended;
  auto update = db.use(
      "UPDATE holdfast_tasks SET state = {completed}, finished_at = ?3, result = ?4, attempt = ?5,"
      " suspect = 0, cancel_requested = 0, lease_until = NULL,"
      " row_sum = holdfast_end(?6, seq, lane, {completed}) WHERE" HOLDFAST_TOKEN_GUARD);
  update.bind(settlement.lease.id, settlement.lease.token, now, result, settlement.attempt);
  update.bind_pointer(6, &ended, ended_rows_type);
  update.run();
  if (ended.empty()) return {};
  db.counts().move(ended.front().lane, TaskState::running, TaskState::completed);
  return ended.front().seq;
}

const RowList claimed_sql{"SELECT" HOLDFAST_FOUND_TASK
                          "WHERE t.seq IN (SELECT seq FROM holdfast_tasks WHERE seq IN (",
                          ")" HOLDFAST_TOKEN_GUARD_OF_MANY ")"};

/// Those that the claim with this token still has; at most `RowList::longest`.
std::vector<FoundTask> find_claimed(Connection& db, Token token,
                                    std::span<const std::int64_t> places) {
  auto find = db.use(claimed_sql.text(places.size()));
  find.bind(token);
  int at = 2;
  for (auto place : places) find.bind_from(at++, place);
  std::vector<FoundTask> found;
  found.reserve(places.size());
  while (find.step()) found.push_back(read_found(find));
  return found;
}

std::optional<FoundTask> find_claimed(Connection& db, const Lease& lease) {
  auto find =
      db.use("SELECT" HOLDFAST_FOUND_TASK
             "WHERE t.seq = (SELECT seq FROM holdfast_tasks WHERE" HOLDFAST_TOKEN_GUARD ")");
  if (!find.bind(lease.id, lease.token).step()) return {};
  return read_found(find);
}

/// The very same claim ended before: its token is still the task's, but it is not running. The
/// reply to that settlement was lost.
bool was_settled_before(Connection& db, const Lease& lease) {
  auto find =
      db.use("SELECT 1 FROM holdfast_tasks WHERE id = ? AND token = ? AND state <> {running}");
  find.bind(lease.id, lease.token);
  return find.step();
}

bool anything_blocked(Connection& db) {
  auto query = db.use("SELECT 1 FROM holdfast_blocks LIMIT 1");
  return query.step();
}

void take_along(SettleResult& result, std::vector<TaskChanged> dependents) {
  for (const auto& one : dependents) result.woke_others |= one.transition.to == TaskState::pending;
  std::ranges::move(dependents, std::back_inserter(result.also));
}

/// Whether the task was still claimed by who settles it.
bool end_plainly(Connection& db, const Settlement& settlement, WallTime now, SettleResult& result) {
  const auto seq = complete(db, settlement, now);
  if (!seq) return false;
  if (anything_blocked(db))
    take_along(result, end_dependents(db, *seq, {settlement.lease.id, TaskState::completed}, now));
  return true;
}

/// What comes of a change that was written.
void follow(Connection& db, const FoundTask& task, const TaskChange& change,
            const Settlement& settlement, WallTime now, SettleResult& result) {
  result.woke_others |= change.to == TaskState::pending;
  if (change.to != settlement.to) result.also.push_back(told(task, change));
  take_along(result,
             end_dependents(db, task.seq, {task.row.id, change.to, actors::dependency}, now));
}

bool end_otherwise(Connection& db, const Settlement& settlement, WallTime now,
                   SettleResult& result) {
  const auto task = find_claimed(db, settlement.lease);
  if (!task) return false;
  const auto change = lifecycle::settle(task->row, settlement, now);
  apply_change(db, *task, change, 0);
  follow(db, *task, change, settlement, now, result);
  return true;
}

void insert_follow_ups(Connection& db, const Settlement& settlement, WallTime now,
                       SettleResult& result) {
  if (settlement.follow_ups.empty()) return;
  auto inserted = insert_tasks(db, settlement.follow_ups, now);
  for (std::size_t i = 0; i < inserted.size(); ++i) {
    if (!inserted[i].created) continue;
    Transition step{{}, inserted[i].state, "client", {}, {}, 0, now};
    result.also.push_back({inserted[i].id, settlement.follow_ups[i].kind, std::move(step)});
  }
  result.woke_others = true;
}

Settled settle_one(Connection& db, const Settlement& settlement, WallTime now,
                   SettleResult& result) {
  const auto end = lifecycle::is_plain_end(settlement) ? end_plainly : end_otherwise;
  if (!end(db, settlement, now, result))
    return was_settled_before(db, settlement.lease) ? Settled::repeated : Settled::refused;
  insert_follow_ups(db, settlement, now, result);
  return Settled::accepted;
}

/// Tasks that are claimed together have the same token, so what ends together mostly has, too.
std::vector<SettlementHandful> handfuls_of_one_token(std::vector<const Settlement*>& plain) {
  std::ranges::stable_sort(plain, {}, [](const Settlement* one) { return one->lease.token; });
  std::vector<SettlementHandful> handfuls;
  for (SettlementHandful left{plain}; !left.empty();) {
    auto token = left.front()->lease.token;
    auto end = std::ranges::find_if(
        left, [&](const Settlement* one) { return one->lease.token != token; });
    auto same = static_cast<std::size_t>(end - left.begin());
    handfuls.push_back(left.first(std::min(same, RowList::longest)));
    left = left.subspan(handfuls.back().size());
  }
  return handfuls;
}

/// Ends that need a decision, of tasks of one claim: read and written together where they change in
/// the same way. Returns those whose tasks are still claimed.
std::vector<const Settlement*> end_together(Connection& db, SettlementHandful settlements,
                                            WallTime now, SettleResult& result) {
  std::map<std::int64_t, const Settlement*> of_place;
  std::vector<std::int64_t> places;
  for (const auto* one : settlements) {
    of_place.emplace(one->lease.place, one);
    places.push_back(one->lease.place);
  }
  std::vector<const Settlement*> ended;
  std::vector<TaskChange> changes;
  auto tasks = find_claimed(db, settlements.front()->lease.token, places);
  std::erase_if(tasks,
                [&](const auto& task) { return task.row.id != of_place.at(task.seq)->lease.id; });
  for (const auto& task : tasks) {
    ended.push_back(of_place.at(task.seq));
    changes.push_back(lifecycle::settle(task.row, *ended.back(), now));
  }
  for (std::size_t first = 0, end = 0; first < tasks.size(); first = end) {
    while (end < tasks.size() && same_change(changes[first], changes[end])) ++end;
    apply_change(db, std::span{tasks}.subspan(first, end - first), changes[first], 0);
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    follow(db, tasks[i], changes[i], *ended[i], now, result);
    insert_follow_ups(db, *ended[i], now, result);
  }
  return ended;
}

}  // namespace

SettleResult settle_tasks(Connection& db, std::span<const Settlement> settlements, WallTime now) {
  SettleResult result;
  result.settled.resize(settlements.size());
  auto place = [&](const Settlement& one) -> Settled& {
    return result.settled[static_cast<std::size_t>(&one - settlements.data())];
  };
  std::vector<const Settlement*> plain, others, rest;
  bool nobody_waits = !anything_blocked(db);
  for (const auto& one : settlements) {
    if (nobody_waits && is_plain(one))
      plain.push_back(&one);
    else
      (one.lease.place != 0 && !lifecycle::is_plain_end(one) ? others : rest).push_back(&one);
  }

  for (auto handful : handfuls_of_one_token(plain)) {
    auto accepted = settle_handful(db, handful, now);
    for (const auto* one : handful) {
      // What was not accepted is tried alone, to find out why.
      auto found = std::ranges::find(accepted, one->lease.place);
      if (found == accepted.end()) {
        rest.push_back(one);
      } else {
        place(*one) = Settled::accepted;
        accepted.erase(found);
      }
    }
  }
  for (auto handful : handfuls_of_one_token(others)) {
    const auto ended = end_together(db, handful, now, result);
    for (const auto* one : ended) place(*one) = Settled::accepted;
    if (ended.size() == handful.size()) continue;
    std::ranges::copy_if(handful, std::back_inserter(rest), [&](const auto* one) {
      return std::ranges::find(ended, one) == ended.end();
    });
  }
  for (const auto* one : rest) place(*one) = settle_one(db, *one, now, result);
  return result;
}

void count_refused(Connection& db, std::int64_t refused) {
  if (refused == 0) return;
  auto add = db.use(
      "INSERT INTO holdfast_meta (key, value) VALUES ('stale_writes_refused', ?1)"
      " ON CONFLICT (key) DO UPDATE SET value = value + ?1");
  add.bind(refused).run();
}

}  // namespace holdfast::sqlite
