#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <holdfast/blobs.hpp>

#include "recovery/backoff.hpp"
#include "recovery/kill_point.hpp"
#include "recovery/time_text.hpp"
#include "tasks/reserved.hpp"
#include "transactions/runner_state.hpp"

namespace holdfast {

namespace {

/// Where a store, a broker or blobs are away, it is nobody's fault, and no failure is counted.
constexpr Millis while_something_is_away{1'000};
/// Another version of the program may know a state that this one does not.
constexpr Millis for_another_version{10'000};
/// So many are read from the store at once.
constexpr std::size_t handlers_at_once = 100;

double random01() {
  thread_local std::minstd_rand source{std::random_device{}()};
  return std::uniform_real_distribution<double>{0, 1}(source);
}

std::string too_long(std::string_view what, Millis limit) {
  return fmt::format("{} took longer than {}", what, duration_text(limit));
}

/// Then the task becomes a cancelled one if that was asked for.
bool stays_unfinished(const Outcome& outcome) {
  return !std::holds_alternative<Done>(outcome) && !std::holds_alternative<Fail>(outcome);
}

Fail no_such_state(const std::string& state) {
  return {fmt::format("it was to go to state '{}', which there is not", state)};
}

}  // namespace

void TransactionRunner::Impl::work(std::stop_token stop) {
  while (true) {
    HeldPtr held;
    {
      std::unique_lock lock{mutex_};
      ready_changed_.wait(lock, stop, [&] { return !ready_.empty(); });
      if (stop.stop_requested()) return;
      held = std::move(ready_.front());
      ready_.pop_front();
    }
    if (!held->transaction.has_row()) read_ahead(held);
    turn(held);
  }
}

void TransactionRunner::Impl::read_ahead(const HeldPtr& first) {
  std::vector<HeldPtr> some{first};
  {
    std::lock_guard lock{mutex_};
    while (some.size() < handlers_at_once && !ready_.empty() &&
           !ready_.front()->transaction.has_row()) {
      some.push_back(std::move(ready_.front()));
      ready_.pop_front();
    }
  }
  std::vector<TaskId> ids;
  for (const auto& held : some) ids.push_back(held->transaction.attempt().task());
  try {
    note_recoveries(some, ids);
    auto rows = store_.find(ids);
    for (std::size_t i = 0; i < some.size(); ++i) some[i]->transaction.set_row(std::move(rows[i]));
  } catch (const std::exception&) {
    // Each asks for itself in its turn, and what is wrong is said there.
  }
  std::lock_guard lock{mutex_};
  ready_.insert(ready_.begin(), std::next(some.begin()), some.end());
  if (some.size() > 1) ready_changed_.notify_all();
}

void TransactionRunner::Impl::turn(const HeldPtr& held) {
  News news;
  {
    std::lock_guard lock{mutex_};
    news = {.stop = held->stop,
            .wake = std::exchange(held->wake, false),
            .missing = std::exchange(held->missing, false),
            .queues = std::exchange(held->news_of_queues, false),
            .messages = std::exchange(held->inbox, {})};
  }
  auto& attempt = held->transaction.attempt();
  attempt.idle(false);
  try {
    take_turn(held, std::move(news));
  } catch (const LeaseLost& error) {
    end(*held, retry(error.what()));
  } catch (const UnfitTransaction& error) {
    say_trouble(*held, error);
    end(*held, hold(error.what()));
  } catch (const StoreError& error) {
    trouble("running a transaction", error);
    end(*held, snooze(while_something_is_away));
  } catch (const QueueMissing& error) {
    trouble("sending a transaction's messages", error);
    say_trouble(*held, error);
    end(*held, snooze(until_the_queue_is_there(*held)));
  } catch (const std::exception& error) {
    // What a handler throws was dealt with; this came from the broker or the blobs.
    trouble("running a transaction", error);
    say_trouble(*held, error);
    end(*held, snooze(while_something_is_away));
  }
  {
    std::lock_guard lock{mutex_};
    if (!held_.contains(attempt.task())) return;
  }
  // Until its next turn it only waits: a crash meanwhile is not its fault.
  attempt.idle(true);
  std::lock_guard lock{mutex_};
  if (held->going) {
    moves_.push_back(held);
    moves_changed_.notify_one();
    return;
  }
  held->busy = false;
  bool more =
      held->stop || held->wake || held->missing || held->news_of_queues || !held->inbox.empty();
  if (more) schedule(held);
}

/// So that whoever looks at it sees why it does not go on.
void TransactionRunner::Impl::say_trouble(Held& held, const std::exception& error) {
  try {
    if (held.transaction.has_row()) held.transaction.say_trouble(error.what());
  } catch (const std::exception&) {
    // The store is away, too, or the transaction is not ours any more.
  }
}

void TransactionRunner::Impl::take_turn(const HeldPtr& held, News news) {
  if (held->going) return go_on(held, arrive(*held));
  if (news.stop) return end(*held, snooze(Millis{0}));
  if (!held->entered) return go_on(held, first_step(*held));
  if (news.missing) {
    const auto& to = state_of(*held).rules.on_missing_queue;
    if (to.empty()) return go_on(held, retry("a queue of it is gone"));
    return go_on(held, Go{to, "a queue of it was gone"});
  }
  if (news.queues) say_what_is_unreadable(*held);
  if (news.queues || news.wake)
    if (auto given_up = gives_up_queue(held)) return go_on(held, *given_up);
  if (!news.messages.empty()) return go_on(held, hand_over(*held, std::move(news.messages)));
  if (news.wake) go_on(held, enter(*held, true));
}

Next TransactionRunner::Impl::arrive(Held& held) {
  auto go = *std::exchange(held.going, {});
  if (held.did_not_go) std::rethrow_exception(std::exchange(held.did_not_go, {}));
  auto from = held.transaction.state();
  held.transaction.moved(go.state, go.reason, now());
  tell_of_move(held, from, go);
  stop_listening(held);
  if (auto late = flush(held)) return *late;
  bool stop = false;
  {
    std::lock_guard lock{mutex_};
    stop = held.stop;
  }
  return stop ? Next{Wait{Millis{0}}} : enter(held);
}

const StateMachine::State& TransactionRunner::Impl::state_of(const Held& held) const {
  return machine_.states.at(held.transaction.state());
}

Next TransactionRunner::Impl::first_step(Held& held) {
  auto& transaction = held.transaction;
  bool begun = transaction.load(now());
  if (!begun && takes_signals()) declare_signal_queues(held);
  held.entered = true;
  if (!tell_if_recovered(held) && begun)
    engine_.events().emit(TransactionResumed{transaction.id(), machine_.name, transaction.state()});
  if (!machine_.states.contains(transaction.state())) {
    trouble("running a transaction",
            InvalidRequest{fmt::format("transaction {} is in state '{}', which this program does "
                                       "not know; is another version of it running?",
                                       transaction.id(), transaction.state())});
    return Wait{for_another_version};
  }
  if (auto late = flush(held)) return *late;
  return enter(held);
}

std::optional<Next> TransactionRunner::Impl::overdue(const Held& held) const {
  const auto& transaction = held.transaction;
  auto at = now();
  auto whole = transaction.began_at() + machine_.timeout;
  // What it does after its time was over is not overdue again.
  if (machine_.timeout > Millis{0} && at >= whole && transaction.entered_at() < whole) {
    auto why = too_long("the transaction", machine_.timeout);
    if (machine_.on_timeout.empty()) return Fail{why};
    return Go{machine_.on_timeout, why};
  }
  const auto& rules = state_of(held).rules;
  if (rules.timeout == Millis{0} || at < transaction.entered_at() + rules.timeout) return {};
  auto why = too_long(fmt::format("state '{}'", transaction.state()), rules.timeout);
  if (rules.on_timeout.empty()) return Fail{why};
  return Go{rules.on_timeout, why};
}

Millis TransactionRunner::Impl::time_left(const Held& held) const {
  auto left = Millis::max();
  auto at = now();
  auto whole = held.transaction.began_at() + machine_.timeout;
  if (machine_.timeout > Millis{0} && held.transaction.entered_at() < whole)
    left = std::min(left, whole - at);
  const auto& rules = state_of(held).rules;
  if (rules.timeout > Millis{0})
    left = std::min(left, held.transaction.entered_at() + rules.timeout - at);
  return std::max(left, Millis{0});
}

Next TransactionRunner::Impl::enter(Held& held, bool remembers) {
  const auto& state = state_of(held);
  if (state.role == StateMachine::Role::completes) return Wait{Millis{0}};
  if (state.role == StateMachine::Role::fails) return Fail{held.transaction.reason()};
  if (auto too_late = overdue(held)) return *too_late;
  if (!remembers) held.transaction.memory().reset();
  return call(held, [&]() -> Next {
    try {
      return state.enter(held.transaction);
    } catch (const UnfitPayload& error) {
      // There is no message whose fault it could be.
      throw UnfitTransaction{error.what()};
    }
  });
}

Next TransactionRunner::Impl::call(Held&, const std::function<Next()>& handler) {
  try {
    return handler();
  } catch (const LeaseLost&) {
    throw;
  } catch (const UnfitTransaction&) {
    throw;
  } catch (const StoreError&) {
    throw;
  } catch (const QueueMissing& error) {
    return retry(error.what());
  } catch (const BrokerError&) {
    throw;
  } catch (const BlobDamaged& error) {
    return retry(error.what());
  } catch (const BlobError&) {
    throw;
  } catch (const std::exception& error) {
    return retry(error.what());
  }
}

void TransactionRunner::Impl::go_on(const HeldPtr& held, Next next) {
  std::optional<Next> following = std::move(next);
  while (following) following = follow(held, *following);
}

std::optional<Next> TransactionRunner::Impl::follow(const HeldPtr& held, const Next& next) {
  auto& transaction = held->transaction;
  if (auto* go = std::get_if<Go>(&next)) {
    if (!machine_.states.contains(go->state)) return no_such_state(go->state);
    if (knows_state(*held) && state_of(*held).rules.leave_when_sent) {
      transaction.settle_down();
      if (auto late = flush(*held, TakeOut::with_next_step)) return late;
    }
    held->going = *go;
    return {};
  }
  if (auto* again = std::get_if<Retry>(&next)) return fail_once(*held, *again);
  if (auto* fails = std::get_if<Fail>(&next)) return fail_for_good(*held, fails->reason);
  const bool known = knows_state(*held);
  if (known && state_of(*held).role == StateMachine::Role::completes) {
    tell_of(*held, TransactionNote::completed);
    remove_signal_queues(*held);
    end(*held, done);
    return {};
  }
  transaction.settle_down();
  if (auto late = flush(*held)) return late;
  if (auto* listens = std::get_if<Listen>(&next)) {
    // While it listened until now, nothing was in its way but queues that cannot be read.
    if (!held->queues.empty()) say_what_is_unreadable(*held);
    return listen(held, listens->at_most);
  }
  transaction.trouble_is_over();
  auto delay = std::get<Wait>(next).delay;
  end(*held, snooze(known ? std::min(delay, time_left(*held)) : delay));
  return {};
}

void TransactionRunner::Impl::record_move(Held& held, const Go& go) {
  auto from = held.transaction.state();
  held.transaction.move(go.state, go.reason, now());
  tell_of_move(held, from, go);
}

void TransactionRunner::Impl::tell_of_move(const Held& held, const std::string& from,
                                           const Go& go) {
  engine_.events().emit(
      TransactionMoved{held.transaction.id(), machine_.name, from, go.state, go.reason});
}

std::optional<Next> TransactionRunner::Impl::fail_once(Held& held, const Retry& retry) {
  held.transaction.count_failure(retry.reason);
  const auto& rules = state_of(held).rules;
  auto failures = held.transaction.failures();
  if (failures > rules.max_failures)
    return Fail{fmt::format("failed {} times, at last: {}", failures, retry.reason)};
  auto delay = retry.delay.value_or(backoff_delay(rules.backoff, failures, random01()));
  end(held, snooze(std::min(delay, time_left(held))));
  return {};
}

std::optional<Next> TransactionRunner::Impl::fail_for_good(Held& held, const std::string& reason) {
  auto to = state_of(held).rules.on_failure;
  if (to.empty()) to = machine_.failing();
  if (!to.empty() && to != held.transaction.state()) return Go{to, reason};
  remove_signal_queues(held);
  end(held, fail(reason));
  return {};
}

void TransactionRunner::Impl::end(Held& held, Outcome outcome) {
  held.on_stop.reset();
  if (stays_unfinished(outcome) && asked_to_cancel(held.transaction.attempt()))
    tell_of(held, TransactionNote::cancelled);
  stop_listening(held);
  {
    std::lock_guard lock{mutex_};
    held_.erase(held.transaction.attempt().task());
  }
  held.transaction.attempt().end(std::move(outcome));
}

}  // namespace holdfast
