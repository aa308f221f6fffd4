#include "simulation/process.hpp"

#include <algorithm>

#include "simulation/client.hpp"
#include "tasks/policy.hpp"

namespace holdfast::sim {

namespace {

/// A worker that got less than it asked for waits until there is something. Now and then it looks
/// in vain.
constexpr int look_in_vain_percent = 3;

}  // namespace

Process::Process(World& world, Traits traits, int number)
    : world_{world},
      traits_{traits},
      number_{number},
      session_{Session::Limits{.concurrency = traits.concurrency,
                               .prefetch = 6,
                               .lease = lease_length,
                               .stop_grace = Millis{10'000}}} {
  if (traits_.quick) get_quick();
  enlist();
}

/// Lets the session believe that tasks take no time here.
void Process::get_quick() {
  constexpr int enough = 70;
  for (int i = 0; i < enough; ++i) {
    Claimed nothing;
    nothing.timeout = Millis{1'000};
    session_.took({nothing}, world_.clock.steady());
    for (const auto& job : session_.start(world_.clock.steady()))
      session_.finished(job, settle_for(nothing, Done{}, {}), std::chrono::microseconds{1});
    session_.handler_free();
    session_.settled(session_.settlements());
  }
}

void Process::enlist() {
  enlistment_ = world_.engine.workers().enlist(
      WorkerProfile{{}, {task_kind}, traits_.concurrency, lease_length});
  strays_ = session_.running();
  if (strays_ > 0) enlistment_->not_alone(true);
  world_.ledger.enlisted(enlistment_->id(), lease_length);
  world_.trace.say("p{} enlists as w{}", number_, world_.ledger.worker(enlistment_->id()).number);
}

std::vector<Lease> Process::running() const {
  std::vector<Lease> leases;
  for (const auto& hand : hands_) {
    if (hand->job) leases.push_back(hand->job->claimed.lease);
  }
  return leases;
}

void Process::crash() {
  world_.trace.say("p{} crashes", number_);
  alive_ = false;
  auto at_death = running();
  auto let_go_of = [&](std::shared_ptr<Enlistment>& enlistment) {
    if (enlistment) world_.ledger.died(enlistment->id(), at_death);
    enlistment.reset();
  };
  for (auto& hand : hands_) let_go_of(hand->enlistment);
  let_go_of(enlistment_);
}

void Process::step() {
  int choice = world_.dice.below(100);
  if (choice < 30) {
    pump();
  } else if (choice < 75) {
    handlers();
  } else if (choice < 88) {
    heart();
  } else {
    timer();
  }
}

void Process::pump() {
  if (pumping_) return;
  pumping_ = true;
  if (draining_) shut_down();
  if (alive_) exchange();
  if (alive_ && draining_ && session_.idle()) leave();
  pumping_ = false;
}

void Process::exchange() {
  Exchange exchange{.settle = session_.settlements()};
  bool waits = hungry_ && !world_.ledger.claimable() && !world_.dice.percent(look_in_vain_percent);
  int room = draining_ || waits ? 0 : session_.room();
  if (room > 0)
    exchange.claim = ClaimRequest{.worker = enlistment_->id(),
                                  .kinds = {task_kind},
                                  .limit = room,
                                  .max_suspects = session_.suspect_room(world_.clock.steady()),
                                  .lease = lease_length};
  if (exchange.settle.empty() && room == 0) return;
  auto asked_at = world_.clock.steady();
  world_.yield();
  if (!alive_) return;
  if (world_.fault(4)) {
    world_.trace.say("p{} does not reach the store", number_);
    session_.unsent(std::move(exchange.settle));
    return;
  }
  auto answer = world_.engine.tasks().exchange(exchange);
  for (std::size_t i = 0; i < exchange.settle.size(); ++i)
    world_.trace.say("p{} settles t{} to {}: {}", number_,
                     world_.number(exchange.settle[i].lease.id), to_string(exchange.settle[i].to),
                     static_cast<int>(answer.settled[i]));
  for (const auto& one : answer.claimed)
    world_.trace.say("p{} claims t{} attempt {}{}", number_, world_.number(one.lease.id),
                     one.attempt, one.suspect ? " suspect" : "");
  world_.ledger.exchanged(exchange, answer);
  world_.yield();
  if (alive_ && world_.fault(4)) crash();
  if (!alive_) return;
  if (world_.fault(8)) {
    world_.trace.say("p{} does not hear it", number_);
    if (!answer.claimed.empty()) world_.ledger.hit(Sometimes::claim_reply_lost);
    session_.unsent(std::move(exchange.settle));
    return;
  }
  account(exchange, answer, asked_at);
}

void Process::account(const Exchange& sent, const Exchanged& answer, Millis asked_at) {
  session_.settled(sent.settle);
  for (std::size_t i = 0; i < sent.settle.size(); ++i) {
    if (draining_ && !sent.settle[i].was_attempt && answer.settled[i] == Settled::accepted)
      world_.ledger.hit(Sometimes::given_back_at_shutdown);
  }
  if (answer.buried) {
    was_buried();
  } else if (sent.claim) {
    hungry_ = static_cast<int>(answer.claimed.size()) < sent.claim->limit;
    session_.took(answer.claimed, asked_at);
  }
}

void Process::was_buried() {
  world_.trace.say("p{} hears that it was buried", number_);
  world_.ledger.hit(Sometimes::buried_alive);
  fire(session_.lose_everything(world_.clock.steady()));
  let_go(enlistment_);
  enlist();
}

/// The lock is gone with the last who holds on to it, without a crash.
void Process::let_go(std::shared_ptr<Enlistment>& enlistment) {
  if (enlistment.use_count() == 1) world_.ledger.died(enlistment->id(), {});
  enlistment.reset();
}

void Process::heart() {
  if (beating_) return;
  beating_ = true;
  beat();
  if (alive_ && !world_.fault(20)) renew();
  beating_ = false;
}

void Process::beat() {
  std::vector<TaskId> holding;
  for (const auto& lease : session_.held()) holding.push_back(lease.id);
  auto worker = enlistment_->id();
  world_.yield();
  if (!alive_ || world_.fault(5)) return;
  bool known = world_.engine.workers().beat(worker, holding);
  if (known) world_.ledger.heard_of(worker, lease_length);
  world_.trace.say("p{} beats: {}", number_, known);
}

void Process::renew() {
  auto leases = session_.held();
  if (leases.empty()) return;
  auto asked_at = world_.clock.steady();
  world_.yield();
  if (!alive_ || world_.fault(5)) return;
  auto renewals = world_.engine.tasks().renew(leases, lease_length);
  for (std::size_t i = 0; i < leases.size(); ++i)
    world_.trace.say("p{} renews t{}: {}", number_, world_.number(leases[i].id),
                     static_cast<int>(renewals[i]));
  world_.ledger.renewed(leases, renewals);
  world_.yield();
  if (!alive_ || world_.fault(5)) return;
  fire(session_.renewed(leases, renewals, asked_at, world_.clock.steady()));
}

void Process::timer() {
  auto due = session_.due(world_.clock.steady());
  for (const auto& job : due.give_up) {
    AttemptEnd end{.cancel_requested = job->cause == StopCause::cancel,
                   .timed_out = job->cause == StopCause::timeout};
    session_.settle_on_behalf(job, settle_for(job->claimed, retry("did not stop"), end));
    world_.trace.say("p{} gives up t{}", number_, world_.number(job->claimed.lease.id));
    world_.ledger.hit(Sometimes::handler_given_up);
  }
  if (due.leases_lost > 0) world_.ledger.hit(Sometimes::lease_ended_by_own_watch);
  fire(due.stop);
}

void Process::fire(const std::vector<JobPtr>& jobs) {
  for (const auto& job : jobs) {
    world_.trace.say("p{} stops t{}: {}", number_, world_.number(job->claimed.lease.id),
                     static_cast<int>(job->cause));
    job->stop.request_stop();
  }
}

void Process::shut_down() {
  session_.give_back_waiting();
  if (session_.running() == 0) return;
  if (!asked_to_stop_) {
    asked_to_stop_ = true;
    fire(session_.stop_all(StopCause::shutdown, world_.clock.steady()));
  } else if (world_.dice.percent(20)) {
    session_.abandon_running();
  }
}

void Process::leave() {
  world_.yield();
  if (!alive_) return;
  auto worker = enlistment_->id();
  world_.engine.workers().retire(worker);
  world_.ledger.retired(worker);
  world_.trace.say("p{} says goodbye", number_);
  alive_ = false;
  enlistment_.reset();
  for (auto& hand : hands_) {
    if (hand->enlistment && hand->enlistment->id() != worker) let_go(hand->enlistment);
    hand->enlistment.reset();
  }
}

}  // namespace holdfast::sim
