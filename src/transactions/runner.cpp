#include <algorithm>

#include <fmt/format.h>

#include "transactions/runner_state.hpp"

namespace holdfast {

namespace {

const StateMachine& checked(const StateMachine& machine, const TransactionOptions& options) {
  machine.validate();
  for (const auto& [name, state] : machine.states)
    if ((state.messages || !state.signals.empty()) && !options.broker)
      throw InvalidRequest{fmt::format("transactions '{}' listen in state '{}': they need a broker",
                                       machine.name, name)};
  return machine;
}

/// Handlers wait for stores, brokers and disks most of the time, and what several of them write at
/// the same time shares a commit.
constexpr int usual_threads = 16;

int thread_count(const TransactionOptions& options) {
  return options.threads > 0 ? options.threads : usual_threads;
}

}  // namespace

TransactionRunner::Impl::Impl(Engine engine, StateMachine machine, TransactionOptions options)
    : engine_{std::move(engine)},
      machine_{checked(machine, options)},
      options_{std::move(options)},
      store_{engine_.parts().transactions()},
      worker_{handlers(), WorkerOptions{.queues = {machine_.name},
                                        .concurrency = options_.capacity,
                                        .until_empty = options_.until_empty,
                                        .troubles = [this] { return sick_.troubles(); }}} {}

Tasks TransactionRunner::Impl::handlers() {
  Tasks tasks{engine_};
  return tasks.on_async(transaction_kind, [this](auto attempt) { begin(std::move(attempt)); });
}

WorkerSummary TransactionRunner::Impl::run() {
  if (ran_.exchange(true)) throw InvalidRequest{"a runner runs once; make another one"};
  look_for_recoverable();
  if (options_.broker) consumer_ = options_.broker->consume(options_.consumer);
  std::vector<std::jthread> threads;
  for (int i = 0; i < thread_count(options_); ++i)
    threads.emplace_back([this](std::stop_token stop) { work(stop); });
  threads.emplace_back([this](std::stop_token stop) { write_moves(stop); });
  if (consumer_) threads.emplace_back([this](std::stop_token stop) { hear(stop); });
  auto summary = worker_.run();
  for (auto& thread : threads) thread.request_stop();
  if (consumer_) consumer_->interrupt();
  threads.clear();
  {
    std::lock_guard lock{mutex_};
    ready_.clear();
    moves_.clear();
    by_queue_.clear();
  }
  // What the worker gave up ends here, where nobody hears it any more.
  std::exchange(held_, {}).clear();
  consumer_.reset();
  return summary;
}

void TransactionRunner::Impl::begin(std::shared_ptr<OpenAttempt> attempt) {
  auto task = attempt->task();
  auto held = std::make_shared<Held>(LiveTransaction{std::move(attempt), store_, machine_.initial});
  held->busy = true;  // nobody gives it a turn before it is complete
  held->transaction.attempt().idle(true);
  {
    std::lock_guard lock{mutex_};
    held_[task] = held;
  }
  held->on_stop.emplace(held->transaction.stop_token(), [this, weak = std::weak_ptr{held}] {
    if (auto still = weak.lock()) ask_to_stop(still);
  });
  std::lock_guard lock{mutex_};
  held->stop = held->stop || draining_;
  held->busy = false;
  schedule(held);
}

void TransactionRunner::Impl::schedule(const HeldPtr& held) {
  if (std::exchange(held->busy, true)) return;
  ready_.push_back(held);
  ready_changed_.notify_one();
}

void TransactionRunner::Impl::ask_to_stop(const HeldPtr& held) {
  std::lock_guard lock{mutex_};
  held->stop = true;
  schedule(held);
}

void TransactionRunner::Impl::drain() {
  {
    std::lock_guard lock{mutex_};
    draining_ = true;
    for (const auto& [id, held] : held_) {
      held->stop = true;
      schedule(held);
    }
  }
  worker_.drain();
}

void TransactionRunner::Impl::hurry() {
  {
    std::lock_guard lock{mutex_};
    draining_ = true;
  }
  worker_.hurry();
}

void TransactionRunner::Impl::trouble(const char* what, const std::exception& error) const {
  engine_.events().emit(StoreTrouble{what, error.what()});
}

TransactionRunner::TransactionRunner(Engine engine, StateMachine machine,
                                     TransactionOptions options)
    : impl_{std::make_shared<Impl>(std::move(engine), std::move(machine), std::move(options))} {}
TransactionRunner::~TransactionRunner() = default;
WorkerSummary TransactionRunner::run() { return impl_->run(); }
void TransactionRunner::drain() { impl_->drain(); }
void TransactionRunner::hurry() { impl_->hurry(); }

}  // namespace holdfast
