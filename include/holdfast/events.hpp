#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <holdfast/report.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

/// A task was created or changed state (by this process; other processes emit their own). Not told:
/// what was enqueued in a transaction of the caller's, who alone knows whether that committed, and
/// what is cancelled because it waited for a task that recovery cancelled; histories have both.
struct TaskChanged {
  TaskId id;
  std::string kind;
  Transition transition;
  /// What people call it, where it is no task but a part of a batch: `line 5 of batch ...`.
  std::string name{};
};
struct RecoveryStarted {
  std::string trigger;
};
struct RecoveryCompleted {
  RecoveryReport report;
};
/// Most workers of a store seem to have stopped renewing at once, as after a step of the server's
/// clock. What is not renewed is taken back more slowly. Told by each process that sees it begin.
struct MassExpiry {
  std::size_t workers = 0;
  std::size_t of = 0;  ///< that are not known to be dead
  std::string what;    ///< a sentence
};
/// Somebody asked for a check, or the quiet check of a running worker has been through everything.
struct IntegrityChecked {
  IntegrityResult result;
};
/// What was done about a damaged store when it was opened.
struct StoreRepaired {
  StartUp start_up;
};
struct WorkerEnlisted {
  WorkerId id;
};
struct WorkerDied {
  DeadWorker worker;
};
/// What a dead worker left behind (its files, its lock) was removed.
struct WorkerCleared {
  WorkerId id;
};
/// A write came from a worker that no longer held the task. It was refused; nothing was changed.
struct StaleWriteRefused {
  TaskId id;
  Token token;
  std::string what;
  std::string name{};  ///< as above
};
struct HeartbeatFailed {
  WorkerId id;
  std::string why;
};
/// This worker could not renew in time and stopped its handlers before anybody else may claim.
struct LeasesAbandoned {
  WorkerId id;
  std::size_t tasks = 0;
};
struct StoreTrouble {
  std::string what;
  std::string why;
};
/// The store works, but gives less than people may expect of it. Told once, by a worker that
/// starts.
struct StoreWarning {
  std::string what;
};
/// Data of a task is not what was written. It is kept from handlers.
struct DamageFound {
  Damage damage;
};
/// A handler went on after its stop token fired and its grace was over.
struct HandlerIgnoresStop {
  TaskId id;
  std::string kind;
  std::string name{};  ///< as above
};
/// Handlers of a kind cannot begin in this worker. It gives their tasks back without a charge,
/// claims no more of them, and tries one again after a pause. Told with every try that fails.
struct KindPaused {
  WorkerId id;
  std::string kind;
  std::string why;
  std::chrono::milliseconds pause{};
};
/// They can again.
struct KindResumed {
  WorkerId id;
  std::string kind;
};
/// A schedule enqueued a task (in this process; each time is fired by one only).
struct ScheduleFired {
  std::string schedule;
  TaskId task;
};
/// A schedule is due and cannot be read here, such as one about a time zone that is not installed.
struct ScheduleBroken {
  std::string schedule;
  std::string why;
};

/// A transaction continues here after a pause or a failure. After a crash: `TransactionNoted`.
struct TransactionResumed {
  std::string id;
  std::string machine;
  std::string state;
};
struct TransactionMoved {
  std::string id;
  std::string machine;
  std::string from;
  std::string to;
  std::string reason;
};
/// A queue that a transaction listens to cannot be read, or can be read again.
struct QueueWatched {
  enum class Change {
    unreadable,
    readable,
    left,  ///< it could not be read, and the transaction does not listen to it any more
  };
  std::string id;  ///< of the transaction; empty: the queue of requests
  std::string machine;
  std::string queue;
  Change change = Change::unreadable;
  std::string why{};  ///< in the broker's words
};
/// A message went into the queue of dead letters.
struct MessageRejected {
  std::string id;  ///< of the transaction; empty: the message belongs to none yet
  std::string machine;
  std::string queue;
  std::string message;  ///< its id, which may be empty
  std::string reason;
};
/// What happened to a transaction beside its moves: a part that was there already.
struct TransactionNoted {
  std::string id;
  std::string machine;
  std::string what;
  bool trouble = false;
};

using Event = std::variant<TaskChanged, RecoveryStarted, RecoveryCompleted, MassExpiry,
                           IntegrityChecked, StoreRepaired, WorkerEnlisted, WorkerDied,
                           WorkerCleared, StaleWriteRefused, HeartbeatFailed, LeasesAbandoned,
                           StoreTrouble, StoreWarning, DamageFound, HandlerIgnoresStop, KindPaused,
                           KindResumed, ScheduleFired, ScheduleBroken, TransactionResumed,
                           TransactionMoved, QueueWatched, MessageRejected, TransactionNoted>;

enum class Severity { debug, info, warning, error };
Severity severity(const Event& event);
/// One sentence for a log.
std::string to_text(const Event& event);

/// Where logic says what happened, and who wants to know hears it. Subscribers are called in the
/// thread that emits; they must be quick and must not throw.
class Events {
 public:
  using Subscriber = std::function<void(const Event&)>;
  void subscribe(Subscriber subscriber);
  void emit(const Event& event) const;
  /// Emitting what nobody hears costs a load; use this before building many events.
  bool heard() const;

 private:
  std::atomic<bool> heard_{false};
  mutable std::mutex mutex_;
  std::shared_ptr<const std::vector<Subscriber>> subscribers_ =
      std::make_shared<const std::vector<Subscriber>>();
};

}  // namespace holdfast
