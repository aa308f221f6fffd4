#include "tasks/lifecycle.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "recovery/actors.hpp"
#include "tasks/transitions.hpp"

namespace holdfast {

namespace {

auto values_of(const TaskRow& row) {
  return std::tie(row.state, row.token, row.attempt, row.cancel_requested, row.waits);
}

auto values_of(const TaskChange& change) {
  return std::tie(change.to, change.attempt, change.new_token, change.crashes, change.recovered,
                  change.suspect, change.cancel_requested, change.forget_progress, change.run_at,
                  change.finished_at, change.result, change.error, change.cause);
}

auto values_of(const RecordedTransition& entry) {
  const auto& step = entry.transition;
  return std::tie(step.from, step.to, step.actor, step.reason, step.token, step.attempt, step.at,
                  entry.claimed_at, entry.worker);
}

}  // namespace

bool same_change(const TaskChange& one, const TaskChange& other) {
  if (values_of(one.before) != values_of(other.before) || values_of(one) != values_of(other))
    return false;
  if (!one.history || !other.history) return one.history.has_value() == other.history.has_value();
  return values_of(*one.history) == values_of(*other.history);
}

namespace lifecycle {

namespace {

TextChange set(std::string text) { return {true, std::move(text)}; }
TextChange clear() { return {true, {}}; }
TextChange set_or_clear(const std::string& text) { return text.empty() ? clear() : set(text); }

/// Nothing changes yet but the state: what belonged to its attempt is over.
TaskChange change_to(TaskState to, const TaskRow& row, WallTime now) {
  TaskChange change;
  change.before = row;
  change.to = to;
  change.attempt = row.attempt;
  change.crashes = row.crashes;
  change.suspect = row.suspect;
  if (is_finished(to)) change.finished_at = now;
  return change;
}

/// Zero means at once, whatever the wall clock does.
WallTime due_after(Millis delay, WallTime now) {
  return delay > Millis{0} ? now + delay : WallTime{};
}

/// In the history with the attempt that it ended, if it ended one.
void record(TaskChange& change, std::string_view actor, std::string_view reason, WallTime now) {
  const auto& row = change.before;
  const bool ends_attempt = row.state == TaskState::running;
  change.history = RecordedTransition{
      Transition{row.state, change.to, std::string{actor}, std::string{reason}, row.token,
                 change.attempt, now},
      ends_attempt ? row.claimed_at : std::nullopt, ends_attempt ? row.worker : std::nullopt};
}

std::string name_of_worker(const TaskRow& row) {
  return row.worker ? "worker/" + row.worker->text() : std::string{"worker"};
}

TaskChange ask_to_stop(const TaskRow& row, const TaskAdmin::Move& move, WallTime now) {
  auto change = change_to(row.state, row, now);
  change.cancel_requested = true;
  record(change, move.actor, reason_to_stop, now);
  return change;
}

}  // namespace

bool is_plain_end(const Settlement& settlement) {
  return settlement.to == TaskState::completed && settlement.was_attempt &&
         settlement.reason.empty();
}

TaskChange settle(const TaskRow& row, const Settlement& settlement, WallTime now) {
  const bool stops = row.cancel_requested && !is_finished(settlement.to);
  auto change = change_to(stops ? TaskState::cancelled : settlement.to, row, now);
  change.attempt = settlement.attempt;
  change.suspect = row.suspect && !settlement.was_attempt;
  change.result = set_or_clear(settlement.result);
  if (change.to == TaskState::pending) change.run_at = due_after(settlement.delay, now);
  // The reason for giving it back or holding it is not an error of the task.
  const bool says_why = settlement.was_attempt && !settlement.reason.empty();
  if (change.to == TaskState::held) {
    change.cause = says_why ? set(settlement.reason) : clear();
  } else if (says_why) {
    change.error = set(settlement.reason);
  }
  const bool unusual =
      settlement.was_attempt || change.to != settlement.to || !settlement.reason.empty();
  if (unusual && change.to != TaskState::completed)
    record(change, name_of_worker(row), settlement.reason, now);
  return change;
}

TaskChange reclaim(const TaskRow& row, const Verdict& verdict, WallTime now) {
  auto change = change_to(verdict.to, row, now);
  change.new_token = true;
  change.recovered = true;
  change.attempt = verdict.attempt;
  change.crashes = verdict.crashes;
  change.suspect = verdict.suspect;
  if (verdict.to == TaskState::pending) change.run_at = due_after(verdict.delay, now);
  if (is_finished(verdict.to)) change.error = set(verdict.reason);
  change.cause = set_or_clear(verdict.cause);
  record(change, actors::recovery, verdict.reason, now);
  return change;
}

std::optional<TaskChange> move(const TaskRow& row, const TaskAdmin::Move& move, WallTime now) {
  const bool runs = row.state == TaskState::running;
  if (runs && move.ask_running) {
    if (row.cancel_requested) return {};
    return ask_to_stop(row, move, now);
  }
  const bool blocked = move.to == TaskState::pending && row.waits;
  const auto to = blocked ? TaskState::blocked : move.to;
  if (std::ranges::count(move.from, row.state) == 0 || !allowed(row.state, to, Mover::person))
    return {};
  if (is_finished(row.state) && !is_finished(to) && row.key_taken) return {};
  const bool runs_again = !is_finished(to) && to != TaskState::held;
  auto change = change_to(to, row, now);
  change.new_token = runs;
  change.result = clear();
  change.cause = to == TaskState::held ? set(move.reason) : clear();
  if (is_finished(to)) change.error = set(move.reason);
  if (move.fresh_attempts) {
    change.attempt = change.crashes = 0;
    change.suspect = false;
    if (runs_again) change.error = clear();
  }
  // At once, whatever the clock does; but one whose time had not come may still wait for it.
  const bool put_by = row.state == TaskState::held && row.attempt == 0;
  if (to == TaskState::pending && !put_by) change.run_at = WallTime{};
  change.forget_progress = runs_again;
  record(change, move.actor, move.reason, now);
  return change;
}

bool reaches_dependents(TaskState end) {
  return end == TaskState::completed || end == TaskState::cancelled;
}

std::optional<TaskChange> after_end(std::span<const EndedTask> ended, const TaskRow& row,
                                    WallTime now) {
  if (row.state != TaskState::blocked) return {};
  const auto cancelled = std::ranges::find(ended, TaskState::cancelled, &EndedTask::state);
  if (cancelled != ended.end()) {
    auto change = change_to(TaskState::cancelled, row, now);
    const auto reason = fmt::format("waited for {}, which was cancelled", cancelled->id.text());
    change.error = set(reason);
    record(change, cancelled->actor, reason, now);
    return change;
  }
  const bool reached = std::ranges::any_of(ended, reaches_dependents, &EndedTask::state);
  if (!reached || row.waits) return {};
  auto change = change_to(TaskState::pending, row, now);
  record(change, actors::dependency, everything_completed, now);
  return change;
}

TaskChange hold(const TaskRow& row, std::string_view actor, const std::string& cause,
                WallTime now) {
  auto change = change_to(TaskState::held, row, now);
  change.new_token = true;
  change.cause = set(cause);
  record(change, actor, cause, now);
  return change;
}

}  // namespace lifecycle

}  // namespace holdfast
