#pragma once

#include <functional>
#include <map>
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

/// Durable tasks on an engine: enqueue them here, say how each kind is handled, and `run` them in
/// this process, another, or many.
class Tasks {
 public:
  explicit Tasks(Engine engine) : engine_{std::move(engine)} {}

  /// Says how tasks of `kind` are handled: `handler(const T&, Attempt&)` returns an `Outcome`.
  /// A worker only claims kinds that it has a handler for. Throwing counts as `retry`; a payload
  /// that does not fit `T` fails for good.
  template <class T, class F>
  Tasks& on(std::string kind, F handler) {
    return on_json(std::move(kind), [handler = std::move(handler)](Attempt& attempt) -> Outcome {
      return handler(from_payload<T>(attempt.payload()), attempt);
    });
  }
  /// The same without a type: the handler reads `attempt.payload()` itself.
  Tasks& on_json(std::string kind, Handler handler);

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

 private:
  Engine engine_;
  std::map<std::string, Handler> handlers_;
};

/// Checks what can be checked without a store; throws `InvalidRequest`. `enqueue` does it too.
void validate(const NewTask& task, const Settings& settings);

}  // namespace holdfast
