#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/payload.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

/// One attempt at a task, as its handler sees it. Valid while the handler runs, in its thread.
class Attempt {
 public:
  virtual ~Attempt() = default;

  virtual TaskId task() const = 0;
  virtual const std::string& kind() const = 0;
  virtual const std::string& payload() const = 0;  ///< JSON text
  /// 1 for the first. A crash that is not the task's fault repeats the number.
  virtual int number() const = 0;
  virtual int max_attempts() const = 0;
  virtual Token token() const = 0;

  /// The same for every attempt of this task: give it to whatever the handler calls, so that an
  /// effect repeated after a crash can be recognised.
  std::string idempotency_key() const { return task().text(); }

  /// Fires when the attempt should end: timeout, cancel, shutdown, or the lease is gone.
  virtual std::stop_token stop_token() const = 0;
  bool stop_requested() const { return stop_token().stop_requested(); }

  /// How far it is, 0 to 1. Kept with the task; written at most a few times a second.
  virtual void progress(double fraction, std::string_view text = {}) = 0;

  /// A line for this task's own log (`holdfast task logs`).
  virtual void log(std::string_view line) = 0;

  /// Another task that comes into being in the same atomic step as this one's completion, and not
  /// at all if the attempt ends otherwise or the lease was lost. One that cannot be (it waits for a
  /// task that does not exist) fails the task for good. Returns its id.
  template <class T>
  TaskId then(std::string kind, const T& payload, TaskOptions options = {}) {
    return then_json(std::move(kind), to_payload(payload), std::move(options));
  }
  virtual TaskId then_json(std::string kind, std::string payload, TaskOptions options) = 0;

  /// Records `value` under `key` once for this task, whatever happens: the first attempt to record
  /// wins, every later one gets the value recorded first. Durable when it returns. Throws
  /// `LeaseLost` if this worker no longer holds the task.
  virtual std::string record_once(std::string_view key, std::string_view value) = 0;

  /// For handlers that start processes: a file descriptor that the child should inherit. While any
  /// process has it open, recovery knows that this attempt is still going on, and does not run the
  /// task elsewhere. The child writes its process group into it (decimal), so that recovery can end
  /// what outlived its worker. Owned by the attempt; -1 where the engine has no such thing. Throws
  /// `EarlierAttemptRuns` while a process of an earlier attempt has it, and `LeaseLost` if this
  /// worker no longer holds the task.
  virtual int child_lock() = 0;
  /// For handlers whose processes serve one attempt after the other. Opens a lock that such a
  /// process inherits in place of `child_lock`; the caller closes it when the process is gone.
  virtual int open_shared_lock() { return -1; }
  /// The process that inherited `lock` serves this attempt from now on: as long as it has the lock
  /// open, that is one of this attempt's. Throws as `child_lock` does.
  virtual void share_lock([[maybe_unused]] int lock) {}
  /// For handlers whose set-up can fail with `CannotBegin`: it is done, and the work begins. Where
  /// the worker had stopped claiming this kind, it claims again. Returning says the same, later.
  virtual void begun() {}
};

}  // namespace holdfast
