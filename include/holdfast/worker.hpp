#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/tasks.hpp>

namespace holdfast {

struct WorkerOptions {
  std::vector<std::string> queues{};  ///< claim from these only; empty: from all
  /// Handler threads, or open attempts where handlers are asynchronous; 0: as in the settings.
  int concurrency = 0;
  bool until_empty = false;  ///< return when nothing is left that this worker could run
  /// What others who look at the store are to know of it: short JSON text, asked for before every
  /// heartbeat and told with it. From a thread of the worker.
  std::function<std::string()> tells{};
};

/// What a worker did, for its last words.
struct WorkerSummary {
  std::int64_t completed = 0;
  std::int64_t failed_attempts = 0;
  std::int64_t given_back = 0;  ///< unfinished when it stopped; not charged
  std::int64_t refused = 0;     ///< writes refused because the lease was lost
};

/// Runs handlers in this process. Recovers orphans first, then claims, runs, settles, sends
/// heartbeats, watches for other workers' deaths and takes back what they held.
class Worker {
 public:
  Worker(const Tasks& tasks, WorkerOptions options = {});
  ~Worker();

  /// Works until `drain` or `hurry` was asked for (or, with `until_empty`, nothing is left).
  /// Losing the store never ends it: it retries for ever and says so in events. Throws
  /// `StorageFailed` if the storage itself failed under us, and `StoreMoved`, which has the new
  /// address, after everything in the store was moved to another one.
  WorkerSummary run();

  /// Claims nothing more and lets handlers finish, however long they take; then stays, known to
  /// others by its heartbeats, until it is told to end. There is no way back. From any thread.
  void rest();
  /// Claims nothing more, lets handlers finish for the drain timeout, then gives unfinished tasks
  /// back without charging an attempt. From any thread or a signal watcher.
  void drain();
  /// Like `drain`, but stops handlers now.
  void hurry();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

/// Runs `tasks` until SIGTERM or SIGINT (drain; a second one hurries). What `main` calls.
WorkerSummary run(const Tasks& tasks, WorkerOptions options = {});

}  // namespace holdfast
