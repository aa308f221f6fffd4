#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/tasks.hpp>

namespace holdfast {

/// A time limit that never ends.
inline constexpr std::chrono::milliseconds without_limit = std::chrono::milliseconds::max();

struct WorkerOptions {
  std::vector<std::string> queues{};  ///< claim from these only; empty: from all
  /// Handler threads, or open attempts where handlers are asynchronous; 0: as in the settings.
  int concurrency = 0;
  bool until_empty = false;  ///< return when nothing is left that this worker could run
  /// How long `drain` lets handlers finish; `without_limit`: as long as they take. None: as in the
  /// settings.
  std::optional<std::chrono::milliseconds> drain_timeout{};
  /// What others who look at the store are to know of it: short JSON text, asked for before every
  /// heartbeat and told with it. From a thread of the worker.
  std::function<std::string()> tells{};
  /// What keeps it from some of its work, each with the reason; asked for and told like that. It is
  /// shown with the worker, and the health of the store names it.
  std::function<std::map<std::string, std::string>()> troubles{};
};

/// What a worker did, for its last words.
struct WorkerSummary {
  std::int64_t completed = 0;
  std::int64_t failed_attempts = 0;
  std::int64_t given_back = 0;  ///< unfinished when it stopped; not charged
  std::int64_t refused = 0;     ///< writes refused because the lease was lost
  /// Handlers that did not return although they were asked to stop. Their threads still run.
  int left_behind = 0;
};

/// Runs handlers in this process. Recovers orphans first, then claims, runs, settles, sends
/// heartbeats, watches for other workers' deaths and takes back what they held.
///
/// A handler that ignores its stop token outlives `run` (see `WorkerSummary::left_behind`): what
/// handlers capture by reference must live until the process ends, or they must return when they
/// are asked to.
class Worker {
 public:
  Worker(const Tasks& tasks, WorkerOptions options = {});
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Works until `drain` or `hurry` was asked for (or, with `until_empty`, nothing is left). Runs
  /// once; throws `Error` the second time.
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

/// Runs `tasks` until SIGTERM or SIGINT (drain; a second one hurries), whatever other threads there
/// are. What `main` calls; once at a time in a process.
WorkerSummary run(const Tasks& tasks, WorkerOptions options = {});
/// The same until `stop` is requested (drain), for programs that deal with signals themselves.
WorkerSummary run(const Tasks& tasks, std::stop_token stop, WorkerOptions options = {});

}  // namespace holdfast
