#include "tasks/history.hpp"

#include <utility>

#include "recovery/actors.hpp"
#include "tasks/lifecycle.hpp"

namespace holdfast {

namespace {

std::string worker_actor(const std::optional<WorkerId>& worker) {
  return worker ? "worker/" + worker->text() : "worker";
}

class Life {
 public:
  explicit Life(const TaskRecord& task) : task_{task} {}

  void begin(TaskState first) {
    Transition created;
    created.to = first;
    created.actor = "client";
    created.reason = first == TaskState::blocked ? "It was enqueued and waits for other tasks."
                                                 : "It was enqueued.";
    created.at = task_.created_at;
    add(std::move(created));
  }

  void add_recorded(RecordedTransition row) {
    auto& step = row.transition;
    if (step.from == TaskState::running) {
      if (state() != TaskState::running)
        claim(row.claimed_at.value_or(step.at), row.worker, step.token);
    } else if (step.from) {
      release_into(*step.from, step.at);
    }
    add(std::move(step));
  }

  /// What the task says about itself and no recorded step says.
  void end() {
    if (state() == task_.state) return;
    bool ran = task_.state == TaskState::running || task_.state == TaskState::completed ||
               task_.state == TaskState::failed;
    auto last_time = task_.finished_at.value_or(task_.run_at);
    if (!ran) return release_into(task_.state, last_time);
    if (state() != TaskState::running)
      claim(task_.claimed_at.value_or(last_time), task_.worker, task_.token);
    if (task_.state == TaskState::running) return;
    Transition ended;
    ended.from = TaskState::running;
    ended.to = task_.state;
    ended.actor = worker_actor(task_.worker);
    ended.reason =
        task_.state == TaskState::completed ? "Its handler finished the work." : task_.error;
    ended.token = task_.token;
    ended.attempt = task_.attempt;
    ended.at = last_time;
    add(std::move(ended));
  }

  /// What came before is not told again.
  void go_on_from(Transition before) {
    add(std::move(before));
    told_before_ = 1;
  }

  std::size_t told() const { return steps_.size() - told_before_; }
  std::vector<Transition> steps() && {
    steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(told_before_));
    return std::move(steps_);
  }

 private:
  TaskState state() const { return steps_.back().to; }

  void add(Transition step) { steps_.push_back(std::move(step)); }

  /// Every claim counts one attempt more than were charged before it.
  void claim(WallTime at, const std::optional<WorkerId>& worker, Token token) {
    release_into(TaskState::pending, at);
    Transition claimed;
    claimed.from = TaskState::pending;
    claimed.to = TaskState::running;
    claimed.actor = worker_actor(worker);
    claimed.reason = "A worker claimed it.";
    claimed.token = token;
    claimed.attempt = steps_.back().attempt + 1;
    claimed.at = at;
    add(std::move(claimed));
  }

  /// A blocked task that got on without a recorded step had its last dependency completed, at the
  /// latest by `at`.
  void release_into(TaskState next, WallTime at) {
    if (state() != TaskState::blocked || next != TaskState::pending) return;
    Transition released;
    released.from = TaskState::blocked;
    released.to = TaskState::pending;
    released.actor = actors::dependency;
    released.reason = lifecycle::everything_completed;
    released.attempt = steps_.back().attempt;
    released.at = std::max(at, steps_.back().at);
    add(std::move(released));
  }

  const TaskRecord& task_;
  std::vector<Transition> steps_;
  std::size_t told_before_ = 0;
};

/// How the task began: the first recorded step tells, else what it is now.
TaskState first_state(const TaskRecord& task, const std::vector<RecordedTransition>& recorded) {
  auto first = recorded.empty() ? std::optional{task.state} : recorded.front().transition.from;
  return first == TaskState::blocked ? TaskState::blocked : TaskState::pending;
}

}  // namespace

HistoryPart part_of_history(const TaskRecord& task, std::optional<RecordedTransition> before,
                            std::vector<RecordedTransition> recorded, bool to_the_end) {
  Life life{task};
  if (before)
    life.go_on_from(std::move(before->transition));
  else
    life.begin(first_state(task, recorded));
  HistoryPart part;
  for (auto& row : recorded) {
    life.add_recorded(std::move(row));
    part.ends.push_back(life.told());
  }
  if (to_the_end) life.end();
  part.steps = std::move(life).steps();
  return part;
}

std::vector<Transition> full_history(const TaskRecord& task,
                                     std::vector<RecordedTransition> recorded) {
  return part_of_history(task, {}, std::move(recorded), true).steps;
}

}  // namespace holdfast
