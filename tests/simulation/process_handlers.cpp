#include <algorithm>

#include "simulation/client.hpp"
#include "simulation/process.hpp"
#include "tasks/policy.hpp"

namespace holdfast::sim {

void Process::handlers() {
  if (!draining_ && session_.startable() && (hands_.empty() || world_.dice.percent(50))) {
    start();
    return;
  }
  if (hands_.empty()) return;
  auto& hand =
      *hands_[static_cast<std::size_t>(world_.dice.below(static_cast<int>(hands_.size())))];
  if (hand.busy) return;
  hand.busy = true;
  carry_on(hand);
}

void Process::start() {
  auto jobs = session_.start(world_.clock.steady());
  if (jobs.empty()) return;
  if (jobs.size() > 1) world_.ledger.hit(Sometimes::handful_started);
  auto hand = std::make_unique<Hand>();
  auto taken = [&](int slot) {
    return std::ranges::any_of(hands_, [&](const auto& other) { return other->slot == slot; });
  };
  while (taken(hand->slot)) ++hand->slot;
  hand->enlistment = enlistment_;
  for (auto& job : jobs) {
    world_.ledger.handed_out(job->claimed.lease, job->deadline);
    hand->todo.push_back(std::move(job));
  }
  hands_.push_back(std::move(hand));
}

/// The handler goes on for a while. Resets `busy` unless the hand or the process is gone.
void Process::carry_on(Hand& hand) {
  if (!hand.job) {
    if (hand.todo.empty()) {
      free(hand);
      return;
    }
    begin(hand);
  } else {
    const auto& task = world_.ledger.entry(hand.job->claimed.lease.id);
    bool asked = hand.job->stop.stop_requested();
    bool deaf = task.nature == Nature::deaf && !world_.dice.percent(5);
    if (task.nature == Nature::poison || world_.fault(2)) {
      crash();
    } else if (world_.dice.percent(asked ? 10 : 30)) {
      record(hand);
    } else if (!deaf && world_.dice.percent(asked || world_.calm ? 80 : 40)) {
      end(hand);
    }
  }
  hand.busy = false;
}

void Process::begin(Hand& hand) {
  auto job = std::move(hand.todo.front());
  hand.todo.pop_front();
  const auto& claimed = job->claimed;
  if (job->stop.stop_requested()) {
    hand.done.emplace_back(job, give_back(claimed));
    return;
  }
  world_.trace.say("p{} runs t{}", number_, world_.number(claimed.lease.id));
  hand.enlistment->started(hand.slot, claimed.lease);
  world_.ledger.started(claimed, static_cast<int>(running().size()));
  hand.job = std::move(job);
}

void Process::record(Hand& hand) {
  const auto& claimed = hand.job->claimed;
  Note note{claimed.lease,
            EffectNote{"effect", fmt::format("by attempt {} of p{}", claimed.attempt, number_)}};
  world_.yield();
  if (!alive_) return;
  auto recorded = world_.engine.tasks().record(std::span{&note, 1}).at(0);
  world_.trace.say("p{} notes an effect of t{}: {}", number_, world_.number(claimed.lease.id),
                   recorded.accepted);
  world_.ledger.recorded(note, recorded);
}

void Process::end(Hand& hand) {
  auto settlement = settlement_for(*hand.job);
  world_.trace.say("p{} ran t{}: {}", number_, world_.number(settlement.lease.id),
                   to_string(settlement.to));
  hand.enlistment->finished(hand.slot);
  hand.done.emplace_back(std::move(hand.job), std::move(settlement));
  hand.job = nullptr;
}

Settlement Process::settlement_for(const Job& job) {
  auto& task = world_.ledger.entry(job.claimed.lease.id);
  auto said = outcome(task, job.stop.stop_requested());
  bool ours_to_blame = job.cause == StopCause::shutdown || job.cause == StopCause::lease_lost;
  if (ours_to_blame && !std::holds_alternative<Done>(said)) return give_back(job.claimed);
  AttemptEnd end{.cancel_requested = job.cause == StopCause::cancel,
                 .timed_out = job.cause == StopCause::timeout,
                 .random = world_.dice.fraction()};
  auto settlement = settle_for(job.claimed, said, end);
  if (settlement.to == TaskState::completed && world_.dice.percent(25)) {
    NewTask follow_up{task_kind, "{}"};
    follow_up.options.id = world_.new_task_id();
    world_.ledger.plan(*follow_up.options.id, Nature::good);
    settlement.follow_ups.push_back(std::move(follow_up));
  }
  return settlement;
}

Outcome Process::outcome(Entry& task, bool asked_to_stop) {
  auto& dice = world_.dice;
  if (asked_to_stop && dice.percent(70)) return retry("asked to stop");
  switch (task.nature) {
    case Nature::good:
    case Nature::poison:
    case Nature::deaf:
      break;
    case Nature::flaky:
      if (dice.percent(50)) return retry("flaky");
      break;
    case Nature::bad:
      return fail("bad");
    case Nature::hopeless:
      return retry("hopeless");
    case Nature::sleepy:
      if (++task.snoozes <= 2) return snooze(Millis{dice.below(30'000)});
      break;
  }
  return done;
}

void Process::free(Hand& hand) {
  auto each = traits_.quick ? std::chrono::microseconds{1} : std::chrono::milliseconds{100};
  for (auto& [job, settlement] : hand.done) session_.finished(job, std::move(settlement), each);
  session_.handler_free();
  if (hand.enlistment != enlistment_) {
    let_go(hand.enlistment);
    if (--strays_ == 0) enlistment_->not_alone(false);
  }
  std::erase_if(hands_, [&](const auto& other) { return other.get() == &hand; });
}

}  // namespace holdfast::sim
