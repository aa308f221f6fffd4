#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_set>

#include "engines/postgres/statements.hpp"
#include "recovery/actors.hpp"

namespace holdfast::postgres {

Settling::Settling(std::span<const Settlement> settlements) : settlements_{settlements} {
  std::unordered_set<TaskId> named;
  for (std::size_t i = 0; i < settlements_.size(); ++i) {
    if (lifecycle::is_plain_end(settlements_[i]))
      plain_.push_back(i);
    else if (named.insert(settlements_[i].lease.id).second)  // the first of two decides
      others_.push_back(i);
  }
}

std::size_t Settling::results() const {
  if (settlements_.empty()) return 0;
  return (plain_.empty() ? 0u : 1u) + (others_.empty() ? 0u : 1u) + 1u;
}

void Settling::queue(Connection& db) const {
  if (settlements_.empty()) return;
  if (!plain_.empty()) queue_plain(db);
  if (!others_.empty()) queue_look(db);
  // A statement of its own: it must see who began to wait until the one before got its locks.
  std::vector<TaskId> ids;
  for (const auto& one : settlements_) ids.push_back(one.lease.id);
  db.queue("SELECT DISTINCT on_task FROM hf.blocks WHERE on_task = ANY($1)", ids);
}

void Settling::queue_plain(Connection& db) const {
  Array places{Type::bigint}, ids{Type::uuid}, tokens{Type::bigint}, results{Type::text},
      attempts{Type::bigint};
  for (auto place : plain_) {
    const auto& one = settlements_[place];
    places.add(static_cast<std::int64_t>(place));
    ids.add(one.lease.id);
    tokens.add(one.lease.token);
    one.result.empty() ? results.add_null() : results.add(one.result);
    attempts.add(one.attempt);
  }
  db.queue(
      "UPDATE hf.tasks t SET state = {completed}, finished_at = {wall}, result = s.result,"
      " attempt = s.attempt, suspect = false, cancel_requested = false, lease_until = NULL"
      " FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::text[], $5::bigint[])"
      " AS s(place, id, token, result, attempt) WHERE" HOLDFAST_TOKEN_GUARD
      "RETURNING s.place, t.queue, {wall},"
      " EXISTS (SELECT 1 FROM hf.limits WHERE max_running IS NOT NULL)",
      places.value(), ids.value(), tokens.value(), results.value(), attempts.value());
}

void Settling::queue_look(Connection& db) const {
  Array places{Type::bigint}, ids{Type::uuid}, tokens{Type::bigint};
  for (auto place : others_) {
    places.add(static_cast<std::int64_t>(place));
    ids.add(settlements_[place].lease.id);
    tokens.add(settlements_[place].lease.token);
  }
  db.queue("SELECT" HOLDFAST_FOUND_TASK
           ", s.place, EXISTS (SELECT 1 FROM hf.limits WHERE max_running IS NOT NULL)"
           " FROM unnest($1::bigint[], $2::uuid[], $3::bigint[]) AS s(place, id, token)"
           " JOIN hf.tasks t ON" HOLDFAST_TOKEN_GUARD "FOR UPDATE OF t",
           places.value(), ids.value(), tokens.value());
}

void Settling::finish(Connection& db, std::span<Rows> results) {
  settled.assign(settlements_.size(), Settled::refused);
  auto next = results.begin();
  if (!plain_.empty()) take_plain(db, *next++);
  if (!others_.empty()) decide(db, *next++);
  if (std::ranges::count(settled, Settled::refused) > 0) tell_the_others(db);
  end_dependents_of(db, *next);
  insert_follow_ups(db);
  woke_others |= made_ready_later;
}

void Settling::accept(std::size_t place, TaskState now, WallTime at) {
  const auto& one = settlements_[place];
  settled[place] = Settled::accepted;
  ended_.push_back({one.lease.id, now, actors::dependency});
  follow_ups_.insert(follow_ups_.end(), one.follow_ups.begin(), one.follow_ups.end());
  now_ = at;
}

void Settling::take_plain(Connection& db, Rows& rows) {
  while (rows.next()) {
    accept(static_cast<std::size_t>(rows.integer(0)), TaskState::completed, rows.time(2));
    db.counts().move(rows.text(1), TaskState::running, TaskState::completed);
    // Where something ends there may be room for what a limit held back.
    woke_others |= rows.yes(3);
  }
}

void Settling::decide(Connection& db, Rows& rows) {
  TaskChanges changes;
  while (rows.next()) {
    const auto task = read_found(rows);
    const auto place = static_cast<std::size_t>(rows.integer(found_columns));
    const auto change = lifecycle::settle(task.row, settlements_[place], task.now);
    accept(place, change.to, task.now);
    changes.add(db, task, change);
    woke_others |= rows.yes(found_columns + 1);
    made_ready_later |= change.to == TaskState::pending;
    if (change.to != settlements_[place].to) also.push_back(told(task, change));
  }
  changes.queue(db);
}

void Settling::end_dependents_of(Connection& db, Rows& blocked) {
  std::set<TaskId> waited_for;
  while (blocked.next()) waited_for.insert(blocked.task_id(0));
  std::erase_if(ended_, [&](const auto& one) { return !waited_for.contains(one.id); });
  if (ended_.empty()) return;
  auto changed = end_dependents(db, std::move(ended_));
  for (const auto& one : changed) made_ready_later |= one.transition.to == TaskState::pending;
  std::ranges::move(changed, std::back_inserter(also));
}

void Settling::insert_follow_ups(Connection& db) {
  if (follow_ups_.empty()) return;
  auto inserted = insert_tasks(db, follow_ups_, InsertAs::follow_up);
  for (std::size_t i = 0; i < inserted.size(); ++i) {
    if (!inserted[i].created) continue;
    Transition step{{}, inserted[i].state, "client", {}, {}, 0, now_};
    also.push_back({inserted[i].id, follow_ups_[i].kind, std::move(step)});
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
      " JOIN hf.tasks t ON t.id = s.id AND t.token = s.token AND t.state <> {running}",
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
