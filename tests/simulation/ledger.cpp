#include "simulation/ledger.hpp"

#include <algorithm>
#include <array>

#include "tasks/transitions.hpp"

namespace holdfast::sim {

std::string_view to_string(Defect defect) {
  constexpr std::array<std::string_view, 22> names = {
      "lost",           "unexpected",     "stale write accepted", "holder refused",
      "settled twice",  "false repeat",   "token not grown",      "unexplained change",
      "wrong claim",    "over limit",     "live work taken",      "orphan refused",
      "false proof",    "wrong charge",   "false dead letter",    "suspect not alone",
      "late start",     "effect doubled", "report mismatch",      "refusal uncounted",
      "repeat refused", "stuck"};
  static_assert(names.size() == static_cast<std::size_t>(Defect::stuck) + 1);
  return names[static_cast<std::size_t>(defect)];
}

void Ledger::find(Defect defect, std::string text) {
  trace_.say("DEFECT {}: {}", to_string(defect), text);
  findings_.push_back({defect, std::move(text)});
}

std::string Ledger::name(const Entry& entry) const { return fmt::format("t{}", entry.number); }

Entry& Ledger::plan(TaskId id, Nature nature) {
  auto& planned = entries_[id];
  planned.number = static_cast<int>(entries_.size());
  planned.nature = nature;
  planned.row.id = id;
  return planned;
}

bool Ledger::in_store(TaskId id) const { return there_.contains(id); }

void Ledger::inserted(const std::vector<NewTask>& tasks) {
  for (const auto& task : tasks) {
    auto& entry = entries_.at(*task.options.id);
    if (!there_.insert(*task.options.id).second) {
      hit(Sometimes::enqueue_repeated);
      continue;
    }
    entry.queue = task.options.queue;
    entry.max_attempts = task.options.max_attempts;
    entry.after = task.options.after;
    bool waits = std::ranges::any_of(
        entry.after, [&](TaskId id) { return entries_.at(id).row.state != TaskState::completed; });
    entry.row.state = waits ? TaskState::blocked : TaskState::pending;
  }
  observe();
}

void Ledger::exchanged(const Exchange& exchange, const Exchanged& answer) {
  for (std::size_t i = 0; i < exchange.settle.size(); ++i)
    settled(exchange.settle[i], answer.settled.at(i));
  for (const auto& one : answer.claimed) claimed(one, exchange.claim->worker);
  observe();
}

void Ledger::settled(const Settlement& settlement, Settled answer) {
  auto& task = entry(settlement.lease.id);
  bool current = task.held == settlement.lease;
  bool before = task.ended.contains(settlement.lease.token);
  auto what = fmt::format("settlement of {} to {}", name(task), to_string(settlement.to));
  switch (answer) {
    case Settled::accepted:
      if (!current) find(before ? Defect::settled_twice : Defect::stale_accepted, what);
      accept(task, settlement);
      break;
    case Settled::repeated:
      if (!before) find(Defect::false_repeat, what);
      hit(Sometimes::settlement_repeated);
      break;
    case Settled::refused:
      // Nobody had it since its settlement was accepted, so it must be called repeated.
      if (current || (before && task.row.token == settlement.lease.token))
        find(Defect::holder_refused, what);
      if (!before) hit(Sometimes::stale_settlement_refused);
      ++refusals_;
      break;
  }
}

void Ledger::accept(Entry& task, const Settlement& settlement) {
  bool called_off = settlement.to == TaskState::pending && task.row.cancel_requested;
  auto state = called_off ? TaskState::cancelled : settlement.to;
  bool failure = settlement.was_attempt &&
                 (settlement.to == TaskState::pending || settlement.to == TaskState::failed);
  int expected = settlement.was_attempt ? task.row.attempt : task.row.attempt - 1;
  if (settlement.attempt != expected)
    find(Defect::wrong_charge, fmt::format("{} is charged {} attempts instead of {}", name(task),
                                           settlement.attempt, expected));
  task.failures += failure;
  task.row.attempt = settlement.attempt;
  task.row.state = state;
  if (settlement.to == TaskState::pending)
    task.row.run_at = settlement.delay > Millis{0} ? clock_.wall() + settlement.delay : WallTime{};
  // A task that did not get to run is no less a suspect than before.
  if (settlement.was_attempt) task.row.suspect = false;
  task.row.cancel_requested = false;
  task.held.reset();
  task.ended.insert(settlement.lease.token);
  ended(task, state);
  if (state == TaskState::failed) hit(Sometimes::dead_letter_by_handler);
  if (state == TaskState::cancelled) hit(Sometimes::cancelled_by_handler);
  if (state == TaskState::completed && task.crashed) hit(Sometimes::completed_after_crash);
  if (state == TaskState::completed && task.retried)
    hit(Sometimes::retried_by_operator_and_completed);
  for (const auto& follow_up : settlement.follow_ups) {
    there_.insert(*follow_up.options.id);
    entry(*follow_up.options.id).queue = follow_up.options.queue;
    hit(Sometimes::follow_up_inserted);
  }
}

void Ledger::ended(Entry& task, TaskState state) {
  if (is_finished(state) && ++task.ends > 1)
    find(Defect::settled_twice, fmt::format("{} came to {} ends", name(task), task.ends));
}

void Ledger::claimed(const Claimed& one, WorkerId worker) {
  auto& task = entry(one.lease.id);
  const auto& truth = workers_.at(worker);
  // The settlement that it waited for may have been in the same step.
  if (waits_for_nothing(task)) {
    task.row.state = TaskState::pending;
    hit(Sometimes::dependent_released);
  }
  bool free = task.row.state == TaskState::pending && !paused_.contains(task.queue) &&
              task.row.run_at <= clock_.wall();
  if (!free || truth.buried || truth.retired)
    find(Defect::wrong_claim,
         fmt::format("{} ({}) by w{}", name(task), to_string(task.row.state), truth.number));
  if (one.lease.token <= task.row.token)
    find(Defect::token_not_grown, fmt::format("claim of {}", name(task)));
  if (one.suspect != task.row.suspect)
    find(Defect::unexplained, fmt::format("{}: the claim and the store disagree on whether it is "
                                          "a suspect",
                                          name(task)));
  if (clock_.wall() < latest_wall_) hit(Sometimes::wall_clock_went_back);
  latest_wall_ = std::max(latest_wall_, clock_.wall());
  task.row.state = TaskState::running;
  task.row.token = one.lease.token;
  ++task.row.attempt;
  if (one.attempt != task.row.attempt || one.attempt > task.max_attempts)
    find(Defect::over_limit, fmt::format("{} is claimed for attempt {} of {}, after {}", name(task),
                                         one.attempt, task.max_attempts, task.row.attempt - 1));
  task.held = one.lease;
  task.worker = worker;
}

void Ledger::renewed(const std::vector<Lease>& leases, const std::vector<Renewal>& renewals) {
  for (std::size_t i = 0; i < leases.size(); ++i) {
    const auto& task = entry(leases[i].id);
    bool current = task.held == leases[i];
    if (renewals.at(i) == Renewal::lost) {
      if (current) find(Defect::holder_refused, fmt::format("renewal of {}", name(task)));
      continue;
    }
    if (!current) find(Defect::stale_accepted, fmt::format("renewal of {}", name(task)));
    if ((renewals[i] == Renewal::cancelled) != task.row.cancel_requested)
      find(Defect::unexplained, fmt::format("renewal of {} and its cancel flag", name(task)));
    if (task.row.lease_until < clock_.steady()) hit(Sometimes::lapsed_lease_renewed);
  }
  observe();
}

void Ledger::recorded(const Note& note, const Recorded& answer) {
  auto& task = entry(note.lease.id);
  bool current = task.held == note.lease;
  if (answer.accepted != current)
    find(current ? Defect::holder_refused : Defect::stale_accepted,
         fmt::format("note of {}", name(task)));
  if (!answer.accepted) {
    hit(Sometimes::stale_note_refused);
    ++refusals_;
    return;
  }
  const auto& effect = std::get<EffectNote>(note.what);
  auto [known, is_first] = task.effects.try_emplace(effect.key, effect.value);
  if (answer.value != known->second)
    find(Defect::effect_doubled,
         fmt::format("{}: {} was {}", name(task), answer.value, known->second));
  if (!is_first && effect.value != known->second) hit(Sometimes::effect_kept_first_value);
}

void Ledger::moved(TaskId id, const TaskAdmin::Move& move) {
  auto& task = entry(id);
  if (move.ask_running && task.held) {
    task.row.cancel_requested = true;
    observe();
    return;
  }
  observe(id);
}

void Ledger::paused(const std::string& queue, bool paused) {
  paused ? static_cast<void>(paused_.insert(queue)) : static_cast<void>(paused_.erase(queue));
}

void Ledger::handed_out(const Lease& lease, Millis deadline) {
  if (clock_.steady() < deadline) return;
  find(Defect::started_past_deadline, fmt::format("{} started {} ms late", name(entry(lease.id)),
                                                  (clock_.steady() - deadline).count()));
}

void Ledger::started(const Claimed& one, int beside) {
  if (!one.suspect) return;
  if (beside > 0)
    find(Defect::suspect_not_alone,
         fmt::format("{} beside {} more", name(entry(one.lease.id)), beside));
  hit(Sometimes::suspect_ran_alone);
}

}  // namespace holdfast::sim
