#include <algorithm>
#include <iterator>

#include "engines/postgres/statements.hpp"
#include "engines/postgres/store.hpp"

namespace holdfast::postgres {

void Settling::queue(Connection& db) const {
  if (settlements_.empty()) return;
  Array ids{Type::uuid}, tokens{Type::bigint}, to{Type::bigint}, results{Type::text},
      reasons{Type::text}, attempts{Type::bigint}, were_attempts{Type::boolean},
      delays{Type::bigint};
  for (const auto& one : settlements_) {
    ids.add(one.lease.id);
    tokens.add(one.lease.token);
    to.add(one.to);
    one.result.empty() ? results.add_null() : results.add(one.result);
    // Why it was given back is no error of the task.
    one.reason.empty() || !one.was_attempt ? reasons.add_null() : reasons.add(one.reason);
    attempts.add(one.attempt);
    were_attempts.add(one.was_attempt);
    delays.add(one.delay);
  }
  // Somebody may have asked a task to stop after its worker made up its mind to try again.
  db.queue(
      "UPDATE hf.tasks t SET state = CASE WHEN s.to_state IN (0, 6) AND t.cancel_requested THEN 4"
      " ELSE s.to_state END, finished_at = CASE WHEN s.to_state NOT IN (0, 6) OR"
      " t.cancel_requested THEN {wall} END, run_at = CASE WHEN s.to_state <> 0 THEN t.run_at"
      " WHEN s.delay > 0 THEN {wall} + s.delay ELSE 0 END, result = s.result,"
      " error = CASE WHEN s.to_state = 6 AND NOT t.cancel_requested THEN t.error"
      " ELSE coalesce(s.reason, t.error) END, cause = CASE WHEN s.to_state = 6 AND NOT "
      "t.cancel_requested THEN s.reason ELSE t.cause END,"
      " attempt = s.attempt, suspect = t.suspect AND NOT s.was_attempt, cancel_requested = false,"
      " lease_until = NULL FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[],"
      " $5::text[], $6::bigint[], $7::boolean[], $8::bigint[]) WITH ORDINALITY"
      " AS s(id, token, to_state, result, reason, attempt, was_attempt, delay, n)"
      " WHERE" HOLDFAST_TOKEN_GUARD
      "RETURNING s.n, t.state, t.claimed_at, t.owner, {wall},"
      " EXISTS (SELECT 1 FROM hf.limits WHERE max_running IS NOT NULL), t.queue",
      ids.value(), tokens.value(), to.value(), results.value(), reasons.value(), attempts.value(),
      were_attempts.value(), delays.value());
  // A statement of its own: it must see who began to wait until the one before got its locks.
  db.queue("SELECT DISTINCT on_task FROM hf.blocks WHERE on_task = ANY($1)", ids.value());
}

void Settling::finish(Connection& db, Rows accepted, Rows blocked) {
  settled.assign(settlements_.size(), Settled::refused);
  std::vector<TaskId> waited_for;
  while (blocked.next()) waited_for.push_back(blocked.task_id(0));
  std::vector<TaskId> completed, cancelled;
  std::vector<NewTask> follow_ups;
  HistoryRows history;
  WallTime now{};
  while (accepted.next()) {
    now = accepted.time(4);
    auto place = static_cast<std::size_t>(accepted.integer(0)) - 1;
    const auto& one = settlements_[place];
    settled[place] = Settled::accepted;
    auto state = accepted.state(1);
    db.counts().move(accepted.text(6), TaskState::running, state);
    // Where something ends there may be room for what a limit held back.
    woke_others |= state == TaskState::pending || accepted.yes(5);
    follow_ups.insert(follow_ups.end(), one.follow_ups.begin(), one.follow_ups.end());
    if (std::ranges::count(waited_for, one.lease.id) > 0) {
      if (state == TaskState::completed) completed.push_back(one.lease.id);
      if (state == TaskState::cancelled) cancelled.push_back(one.lease.id);
    }
    bool unusual = one.was_attempt || state != one.to || !one.reason.empty();
    if (state == TaskState::completed || !unusual) continue;
    auto worker = accepted.optional_worker(3);
    auto actor = worker ? "worker/" + worker->text() : std::string{"worker"};
    history.add({.task = one.lease.id,
                 .to = state,
                 .actor = actor,
                 .reason = one.reason,
                 .token = one.lease.token,
                 .attempt = one.attempt,
                 .claimed_at = accepted.optional_time(2),
                 .worker = worker});
    if (state == one.to) continue;
    also.push_back(
        {one.lease.id,
         one.kind,
         {TaskState::running, state, actor, one.reason, one.lease.token, one.attempt, now}});
  }
  history.queue(db);
  if (std::ranges::count(settled, Settled::refused) > 0) tell_the_others(db);
  if (!completed.empty()) {
    std::ranges::move(release_dependents(db, completed), std::back_inserter(also));
    made_ready_later = true;
  }
  if (!cancelled.empty())
    std::ranges::move(cancel_dependents(db, cancelled, "system/dependency"),
                      std::back_inserter(also));
  insert_follow_ups(db, follow_ups, now);
  woke_others |= made_ready_later;
}

void Settling::insert_follow_ups(Connection& db, const std::vector<NewTask>& follow_ups,
                                 WallTime now) {
  if (follow_ups.empty()) return;
  auto inserted = insert_tasks(db, follow_ups, InsertAs::follow_up);
  for (std::size_t i = 0; i < inserted.size(); ++i) {
    if (!inserted[i].created) continue;
    Transition step{{}, inserted[i].state, "client", {}, {}, 0, now};
    also.push_back({inserted[i].id, follow_ups[i].kind, std::move(step)});
  }
  made_ready_later = true;
}

/// Of those that were not accepted: did the very same claim end before? Then its token is still the
/// task's, but it is not running, and only the reply was lost.
void Settling::tell_the_others(Connection& db) {
  Array places{Type::bigint}, ids{Type::uuid}, tokens{Type::bigint};
  for (std::size_t i = 0; i < settled.size(); ++i) {
    if (settled[i] != Settled::refused) continue;
    places.add(static_cast<std::int64_t>(i));
    ids.add(settlements_[i].lease.id);
    tokens.add(settlements_[i].lease.token);
  }
  auto rows = db.run(
      "SELECT s.place FROM unnest($1::bigint[], $2::uuid[], $3::bigint[]) AS s(place, id, token)"
      " JOIN hf.tasks t ON t.id = s.id AND t.token = s.token AND t.state <> 1",
      places.value(), ids.value(), tokens.value());
  while (rows.next()) settled[static_cast<std::size_t>(rows.integer(0))] = Settled::repeated;
  count_refused(db, std::ranges::count(settled, Settled::refused));
}

void count_refused(Connection& db, std::int64_t refused) {
  if (refused == 0) return;
  db.run(
      "INSERT INTO hf.meta AS m (key, value) VALUES ('stale_writes_refused', $1)"
      " ON CONFLICT (key) DO UPDATE SET value = m.value + $1",
      refused);
}

}  // namespace holdfast::postgres
