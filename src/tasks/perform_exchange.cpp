#include "tasks/perform_exchange.hpp"

#include <set>

namespace holdfast {

namespace {

/// Events about tasks that one exchange changed: one object for all of them, because most of it is
/// the same for thousands.
class Telling {
 public:
  Telling(Events& events, WorkerId worker, WallTime at) : events_{events} {
    step_.actor = "worker/" + worker.text();
    step_.at = at;
  }

  void settled(const std::vector<Settlement>& sent, const Exchanged& answer) {
    std::set<TaskId> told;
    for (const auto& change : answer.also) {
      events_.emit(change);
      told.insert(change.id);
    }
    step_.from = TaskState::running;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      const auto& one = sent[i];
      if (told.contains(one.lease.id)) continue;  // it became something else
      if (answer.settled[i] == Settled::refused) {
        events_.emit(StaleWriteRefused{one.lease.id, one.lease.token, "settlement", one.name});
        continue;
      }
      step_.to = one.to;
      step_.reason = one.reason;
      tell_of(one);
    }
  }

  void claimed(const std::vector<Claimed>& claimed) {
    step_.from = TaskState::pending;
    step_.to = TaskState::running;
    step_.reason.clear();
    for (const auto& one : claimed) tell_of(one);
  }

 private:
  template <class One>
  void tell_of(const One& one) {
    changed_.id = one.lease.id;
    changed_.kind = one.kind;
    changed_.name = one.name;
    step_.token = one.lease.token;
    step_.attempt = one.attempt;
    events_.emit(event_);
  }

  Events& events_;
  Event event_{TaskChanged{}};
  TaskChanged& changed_ = std::get<TaskChanged>(event_);
  Transition& step_ = changed_.transition;
};

}  // namespace

Exchanged perform_exchange(EngineParts& parts, WorkerId worker, const Exchange& exchange,
                           const std::function<void(Exchanged&)>& before_telling) {
  auto answer = parts.tasks().exchange(exchange);
  if (before_telling) before_telling(answer);
  auto& events = parts.events();
  for (const auto& damage : answer.damaged) events.emit(DamageFound{damage});
  if (!events.heard()) return answer;
  Telling telling{events, worker, parts.clock().wall()};
  telling.settled(exchange.settle, answer);
  telling.claimed(answer.claimed);
  return answer;
}

}  // namespace holdfast
