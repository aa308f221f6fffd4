#include <holdfast/worker.hpp>

#include "recovery/fatal_signals.hpp"
#include "tasks/signal_watch.hpp"

namespace holdfast {

WorkerSummary run(const Tasks& tasks, WorkerOptions options) {
  record_fatal_signals();
  Worker worker{tasks, std::move(options)};
  SignalWatch signals{[&] { worker.drain(); }, [&] { worker.hurry(); }};
  return worker.run();
}

WorkerSummary run(const Tasks& tasks, std::stop_token stop, WorkerOptions options) {
  Worker worker{tasks, std::move(options)};
  std::stop_callback drain{std::move(stop), [&] { worker.drain(); }};
  return worker.run();
}

}  // namespace holdfast
