#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/attempt.hpp>
#include <holdfast/engine.hpp>
#include <holdfast/error.hpp>
#include <holdfast/settings.hpp>
#include <holdfast/task.hpp>
#include <holdfast/tasks.hpp>

namespace holdfast {

/// What only Holdfast itself may put into a store. Tasks of these kinds and queues are acted upon
/// without further questions, and payloads with these members are opened with the keys of the
/// process that reads them, so none of them may come from a caller.
///
/// Every way in for callers calls `validate(NewTask)`, which refuses them. Holdfast's own code uses
/// the functions below, which no public header declares. All are safe to use from any thread.

/// Throws `InvalidRequest` for a kind or a queue that is reserved; `what` says which it is.
void check_not_reserved(std::string_view what, std::string_view name);

/// The first reserved member of `json`, however it is written, if that is an object; empty: none.
/// Members of members are free.
std::string reserved_member(std::string_view json);
/// Throws `InvalidRequest` if there is one; `what` names the document.
void check_members(std::string_view what, std::string_view json);

/// `validate` for a task that Holdfast made: all but the two above.
void validate_own(const NewTask& task, const Settings& settings);

/// `Tasks::enqueue_all` and `Attempt::then_json` for such tasks.
std::vector<TaskId> enqueue_own(const Engine& engine, std::vector<NewTask> tasks);
TaskId then_own(Attempt& attempt, NewTask task);
/// Where the task of an attempt came from. It is valid as long as the attempt is.
const std::string& queue_of(const Attempt& attempt);

/// For asynchronous handlers that find out later, in another thread, whether they can begin: until
/// `Attempt::begun` or the next call, nothing is concluded from the handler's return.
void begins_later(OpenAttempt& attempt);
/// Ends the attempt as throwing `CannotBegin` would, but its task stays away until this worker
/// looks again, so that it does not stand before the others then.
void could_not_begin(OpenAttempt& attempt, const CannotBegin& error);
/// It was asked to stop because its task is to be cancelled.
bool asked_to_cancel(const OpenAttempt& attempt);

/// The open attempts of workers are of this kind, too.
class OwnOpenAttempt {
 public:
  virtual void begins_later() = 0;
  virtual void could_not_begin(const CannotBegin& error) = 0;
  virtual bool asked_to_cancel() const = 0;

 protected:
  ~OwnOpenAttempt() = default;
};

/// The attempts of workers are of this kind, too. Others, which tests make up, have the default
/// queue and `Attempt::then_json`.
class OwnAttempt {
 public:
  virtual const std::string& queue() const = 0;
  virtual TaskId add_own(NewTask task) = 0;

 protected:
  ~OwnAttempt() = default;
};

}  // namespace holdfast
