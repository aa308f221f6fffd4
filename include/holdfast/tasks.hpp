#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <holdfast/attempt.hpp>
#include <holdfast/engine.hpp>
#include <holdfast/outcome.hpp>
#include <holdfast/payload.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

using Handler = std::function<Outcome(Attempt&)>;

/// An attempt that goes on after its handler returned. Safe to use from any thread, one at a time.
class OpenAttempt : public Attempt {
 public:
  /// How it ended; the first word counts, and nothing else may be asked of it after that. Letting
  /// go of an attempt without a word is a `retry`.
  virtual void end(Outcome outcome) = 0;
  /// True: it waits, and nothing of it runs until this says false again. Whatever ends the process
  /// meanwhile is not its doing, and nobody who must run alone has to wait for it.
  virtual void idle(bool /*waits*/) {}
  /// The work is done, and only what came of it is still to be written down, however long that
  /// takes: from now on the task's timeout does not end the attempt.
  virtual void outlast_timeout() {}
};
/// Begins an attempt and returns at once. Throwing counts as for a `Handler`.
using AsyncHandler = std::function<void(std::shared_ptr<OpenAttempt>)>;

/// Durable tasks on an engine: enqueue them here, say how each kind is handled, and `run` them in
/// this process, another, or many.
class Tasks {
 public:
  explicit Tasks(Engine engine) : engine_{std::move(engine)} {}

  /// Says how tasks of `kind` are handled: `handler(const T&, Attempt&)` returns an `Outcome`.
  /// A worker only claims kinds that it has a handler for. Throwing counts as `retry`; a task
  /// whose payload does not fit `T` is held until an operator releases it.
  template <class T, class F>
  Tasks& on(std::string kind, F handler) {
    return on_json(std::move(kind), [handler = std::move(handler)](Attempt& attempt) -> Outcome {
      return handler(from_payload<T>(attempt.payload()), attempt);
    });
  }
  /// The same without a type: the handler reads `attempt.payload()` itself.
  Tasks& on_json(std::string kind, Handler handler);
  /// For programs with an event loop of their own: the attempt is ended later, by whoever has it.
  /// Such attempts take no thread, so a worker has as many of them at once as its `concurrency`
  /// says, be it thousands. A worker runs handlers of one sort only.
  Tasks& on_async(std::string kind, AsyncHandler handler);

  /// Enqueues one task. When this returns, the task is durable.
  template <class T>
  TaskId enqueue(std::string kind, const T& payload, TaskOptions options = {}) {
    return enqueue(NewTask{std::move(kind), to_payload(payload), std::move(options)});
  }
  TaskId enqueue(NewTask task);

  /// Enqueues many in one atomic step: all or none. Much faster than one by one.
  std::vector<TaskId> enqueue_all(std::vector<NewTask> tasks);

  const Engine& engine() const { return engine_; }
  const std::map<std::string, Handler>& handlers() const { return handlers_; }
  const std::map<std::string, AsyncHandler>& async_handlers() const { return async_handlers_; }

 private:
  Engine engine_;
  std::map<std::string, Handler> handlers_;
  std::map<std::string, AsyncHandler> async_handlers_;
};

/// Checks what can be checked without a store; throws `InvalidRequest`. `enqueue` does it too.
void validate(const NewTask& task, const Settings& settings);

}  // namespace holdfast
