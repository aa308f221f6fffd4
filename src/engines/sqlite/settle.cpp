#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "engines/sqlite/handfuls.hpp"
#include "engines/sqlite/statements.hpp"
#include "tasks/transitions.hpp"

namespace holdfast::sqlite {

namespace {

struct EndingRow {
  std::int64_t seq = 0;
  TaskState state = TaskState::pending;
  std::optional<WallTime> claimed_at{};
  std::optional<WorkerId> worker{};
};

std::optional<EndingRow> find_ending(Connection& db, TaskId id) {
  auto find = db.use(
      "SELECT t.seq, t.state, t.claimed_at, w.id FROM holdfast_tasks t"
      " LEFT JOIN holdfast_workers w ON w.seq = t.owner WHERE t.id = ?");
  find.bind(id);
  if (!find.step()) return {};
  EndingRow row{
      find.integer(0), static_cast<TaskState>(find.integer(1)), find.optional_time(2), {}};
  if (!find.is_null(3)) row.worker = find.worker_id(3);
  return row;
}

bool apply(Connection& db, const Settlement& settlement, WallTime now) {
  std::optional<std::string_view> result, reason;
  if (!settlement.result.empty()) result = settlement.result;
  // Why it was given back is no error of the task.
  if (!settlement.reason.empty() && settlement.was_attempt) reason = settlement.reason;
  std::optional<WallTime> run_at, finished_at;
  if (settlement.to == TaskState::pending)
    run_at = settlement.delay > Millis{0} ? now + settlement.delay : WallTime{};
  if (is_finished(settlement.to)) finished_at = now;
  // Somebody may have asked it to stop after the worker made up its mind to try again.
  EndedRows ended;
  auto update = db.use(
      "UPDATE holdfast_tasks SET state = iif(?3 IN (0, 6) AND cancel_requested, 4, ?3),"
      " finished_at = iif(?3 IN (0, 6) AND cancel_requested, ?9, ?4),"
      " run_at = coalesce(?5, run_at), result = ?6,"
      " error = iif(?3 = 6 AND NOT cancel_requested, error, coalesce(?7, error)),"
      " cause = iif(?3 = 6 AND NOT cancel_requested, ?7, cause), attempt = ?8,"
      " suspect = iif(?10, 0, suspect), cancel_requested = 0, lease_until = NULL,"
      " row_sum = holdfast_end(?11, seq, lane, iif(?3 IN (0, 6) AND cancel_requested, 4, ?3))"
      " WHERE" HOLDFAST_TOKEN_GUARD);
  update.bind(settlement.lease.id, settlement.lease.token, settlement.to, finished_at, run_at,
              result, reason, settlement.attempt, now, settlement.was_attempt);
  update.bind_pointer(11, &ended, ended_rows_type);
  update.run();
  if (ended.empty()) return false;
  const auto& row = ended.front();
  db.counts().move(row.lane, TaskState::running, row.state);
  if (!is_finished(row.state)) seal(db, row.seq);
  return true;
}

/// The very same claim ended before: its token is still the task's, but it is not running. The
/// reply to that settlement was lost.
bool was_settled_before(Connection& db, const Lease& lease) {
  auto find = db.use("SELECT 1 FROM holdfast_tasks WHERE id = ? AND token = ? AND state <> 1");
  find.bind(lease.id, lease.token);
  return find.step();
}

std::string actor_of(const EndingRow& row) {
  return row.worker ? "worker/" + row.worker->text() : std::string{"worker"};
}

TaskChanged changed_otherwise(const Settlement& settlement, const EndingRow& row, WallTime now) {
  return {settlement.lease.id, settlement.kind,
          Transition{TaskState::running, row.state, actor_of(row), settlement.reason,
                     settlement.lease.token, settlement.attempt, now}};
}

void add_unusual_end(Connection& db, const Settlement& settlement, const EndingRow& row,
                     WallTime now) {
  auto actor = actor_of(row);
  add_history(db, {.task = row.seq,
                   .from = TaskState::running,
                   .to = row.state,
                   .actor = actor,
                   .reason = settlement.reason,
                   .token = settlement.lease.token,
                   .attempt = settlement.attempt,
                   .claimed_at = row.claimed_at,
                   .worker = row.worker,
                   .at = now});
}

bool anything_blocked(Connection& db) {
  auto query = db.use("SELECT 1 FROM holdfast_blocks LIMIT 1");
  return query.step();
}

/// What a settlement other than a plain completion leads to.
void follow_up(Connection& db, const Settlement& settlement, WallTime now, SettleResult& result) {
  auto row = find_ending(db, settlement.lease.id);
  bool otherwise = row->state != settlement.to;
  bool unusual = settlement.was_attempt || otherwise || !settlement.reason.empty();
  if (unusual && row->state != TaskState::completed) add_unusual_end(db, settlement, *row, now);
  if (otherwise) result.also.push_back(changed_otherwise(settlement, *row, now));
  std::vector<TaskChanged> dependents;
  if (row->state == TaskState::completed) {
    dependents = release_dependents(db, row->seq, now);
    result.woke_others |= !dependents.empty();
  } else if (row->state == TaskState::cancelled) {
    dependents = cancel_dependents(db, row->seq, now, "system/dependency");
  }
  std::ranges::move(dependents, std::back_inserter(result.also));
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
  if (!apply(db, settlement, now)) {
    return was_settled_before(db, settlement.lease) ? Settled::repeated : Settled::refused;
  }
  result.woke_others |= settlement.to == TaskState::pending;
  bool plain = settlement.to == TaskState::completed && !anything_blocked(db);
  if (!plain) follow_up(db, settlement, now, result);
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

}  // namespace

SettleResult settle_tasks(Connection& db, std::span<const Settlement> settlements, WallTime now) {
  SettleResult result;
  result.settled.resize(settlements.size());
  auto place = [&](const Settlement& one) -> Settled& {
    return result.settled[static_cast<std::size_t>(&one - settlements.data())];
  };
  std::vector<const Settlement*> plain, rest;
  bool nobody_waits = !anything_blocked(db);
  for (const auto& one : settlements)
    (nobody_waits && is_plain(one) ? plain : rest).push_back(&one);

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
