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

}  // namespace holdfast
