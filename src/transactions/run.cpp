#include <holdfast/transactions.hpp>

#include "recovery/fatal_signals.hpp"
#include "tasks/signal_watch.hpp"

namespace holdfast {

WorkerSummary run(const Engine& engine, const StateMachine& machine,
                  const TransactionOptions& options) {
  record_fatal_signals();
  TransactionRunner runner{engine, machine, options};
  SignalWatch signals{[&] { runner.drain(); }, [&] { runner.hurry(); }};
  return runner.run();
}

WorkerSummary run(const Engine& engine, const StateMachine& machine, std::stop_token stop,
                  const TransactionOptions& options) {
  TransactionRunner runner{engine, machine, options};
  std::stop_callback drain{std::move(stop), [&] { runner.drain(); }};
  return runner.run();
}

}  // namespace holdfast
