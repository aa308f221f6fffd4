#include "tasks/store_move.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <holdfast/error.hpp>
#include <holdfast/inspector.hpp>

#include "recovery/actors.hpp"
#include "tasks/perform_exchange.hpp"

namespace holdfast {

namespace {

/// So many tasks are taken in one step and wait for one gate.
constexpr int a_handful = 400;
constexpr int a_page = 10'000;
constexpr Millis look_again{200};

Millis now() { return system_clock().steady(); }

/// Calls `found(tasks)` for all that match, oldest first, as long as nothing leaves them. Stores
/// walk to the beginning of a page, so there are few and large ones.
template <class F>
void each_page(TaskAdmin& admin, const TaskFilter& filter, F found) {
  for (int offset = 0;; offset += a_page) {
    auto page = admin.search(filter, {.limit = a_page, .offset = offset, .newest_first = false});
    if (!page.empty()) found(page);
    if (std::ssize(page) < a_page) return;
  }
}

std::vector<TaskId> ids_of(const std::vector<TaskRecord>& tasks) {
  std::vector<TaskId> ids;
  for (const auto& task : tasks) ids.push_back(task.id);
  return ids;
}

std::string gate_kind(const MoveNote& note) { return "holdfast-move-" + note.move; }

/// The parts of a list, one handful after the other.
template <class T, class F>
void in_handfuls(const std::vector<T>& list, F each) {
  for (std::span<const T> rest{list}; !rest.empty();) {
    auto some = rest.first(std::min<std::size_t>(rest.size(), a_handful));
    rest = rest.subspan(some.size());
    each(std::vector<T>{some.begin(), some.end()});
  }
}

}  // namespace

StoreMove::StoreMove(Engine from, Engine to, MoveOptions options, Say say)
    : from_engine_{std::move(from)},
      to_engine_{std::move(to)},
      from_{from_engine_.parts()},
      to_{to_engine_.parts()},
      options_{options},
      say_{std::move(say)} {}

MoveResult StoreMove::run() {
  begin();
  say_("taking what waits; it can be enqueued as before");
  pause_queues();
  heed_objection();
  take_marked_before();
  drain();
  auto closed_at = now();
  close();
  say_(fmt::format("{} is closed; taking the rest", from_.name()));
  drain();
  drop_outdated();
  take_rest();
  if (options_.finished) {
    take_finished(TaskState::completed);
    take_finished(TaskState::cancelled);
  }
  take_schedules();
  take_limits();
  for (const auto& queue : note_.paused)
    to_.admin().set_paused(queue, true, std::string{actors::move});
  check_counts();
  forget_taken();
  open_gates();
  note_.done = result_.left.empty();
  from_.transfer().set_note(note_);
  result_.closed_for = now() - closed_at;
  return result_;
}

std::int64_t StoreMove::running() { return from_.admin().count({.states = {TaskState::running}}); }

/// Until nothing runs any more, and all that waited then is taken.
void StoreMove::drain() {
  auto until = now() + options_.patience;
  for (;;) {
    pause_queues();
    take_pending();
    auto left = running();
    auto waiting = note_.closed ? from_.admin().count({.states = {TaskState::pending}}) : 0;
    if (left == 0 && waiting == 0) return;
    if (now() > until)
      throw StoreError{fmt::format(
          "{} tasks in {} are still running; the move goes on when it is run again, with more "
          "patience if need be",
          left, from_.name())};
    Inspector{from_engine_, std::string{actors::move}}.recover();
    if (left > 0) from_.tasks().wait_for_work(look_again);
  }
}

bool StoreMove::is_marked(const TaskRecord& task) const {
  return is_being_moved(task) && task.cause == being_moved_to(note_.to);
}

/// Held for the move, so that nobody claims it and everybody sees why.
void StoreMove::mark(const std::vector<TaskId>& ids) {
  TaskFilter filter;
  filter.ids = ids;
  TaskAdmin::Move move;
  move.to = TaskState::held;
  move.from = {TaskState::pending, TaskState::blocked};
  move.actor = actors::move;
  move.reason = being_moved_to(note_.to);
  from_.admin().move(filter, move);
}

/// As many as there are when it begins: who enqueues may be faster than this.
void StoreMove::take_pending() {
  TaskFilter pending{.states = {TaskState::pending}};
  for (auto left = from_.admin().count(pending); left > 0;) {
    auto ids = ids_of(from_.admin().search(pending, {.limit = a_handful, .newest_first = false}));
    if (ids.empty()) return;
    mark(ids);
    take(ids);
    left -= std::ssize(ids);
  }
}

/// By a run of before, which did not come to its end.
void StoreMove::take_marked_before() {
  each_page(from_.admin(), {.states = {TaskState::held}}, [&](const std::vector<TaskRecord>& page) {
    std::vector<TaskId> ids;
    for (const auto& task : page)
      if (is_marked(task) && task.waits_for.empty()) ids.push_back(task.id);
    in_handfuls(ids, [&](const std::vector<TaskId>& some) { take(some); });
  });
}

/// Copies of tasks that an operator let go, after an earlier run had taken them: they came to their
/// end here, and must not run there as well.
void StoreMove::drop_outdated() {
  if (!goes_on_) return;
  std::unordered_set<TaskId> gates;
  each_page(to_.admin(), {.kind = gate_kind(note_)}, [&](const std::vector<TaskRecord>& page) {
    for (const auto& gate : page) gates.insert(gate.id);
  });
  std::vector<TaskId> copies;
  // Held: a run before died when it was about to forget it.
  TaskFilter waiting{.states = {TaskState::blocked, TaskState::held}};
  each_page(to_.admin(), waiting, [&](const auto& page) {
    for (const auto& task : page)
      if (std::ranges::any_of(task.waits_for, [&](TaskId id) { return gates.contains(id); }))
        copies.push_back(task.id);
  });
  in_handfuls(copies, [&](const std::vector<TaskId>& some) {
    TaskFilter originals;
    originals.ids = some;
    std::vector<TaskId> outdated;
    for (const auto& task : from_.admin().search(originals, {.limit = a_handful}))
      if (!is_marked(task)) outdated.push_back(task.id);
    forget_copies(outdated);
  });
}

/// They wait for a gate, so they are held first: only what is held or over can be forgotten.
void StoreMove::forget_copies(const std::vector<TaskId>& ids) {
  if (ids.empty()) return;
  TaskFilter filter;
  filter.ids = ids;
  TaskAdmin::Move move;
  move.to = TaskState::held;
  move.from = {TaskState::blocked};
  move.actor = actors::move;
  move.reason = "came to its end in " + from_.name();
  to_.admin().move(filter, move);
  to_.transfer().forget(ids);
  for (auto id : ids) there_.erase(id);
}

TaskId StoreMove::make_gate() {
  NewTask gate{gate_kind(note_), "{}"};
  gate.options.queue = "holdfast-move";
  gate.options.priority = highest_priority;
  gate.options.max_attempts = 1'000;
  gate.options.id = TaskId::make();
  return to_.tasks().insert(std::span{&gate, 1}).front().id;
}

void StoreMove::prepare(Parcel& parcel, TaskId gate) const {
  auto& task = parcel.task;
  task.state = TaskState::pending;
  task.cause.clear();
  task.waits_for.push_back(gate);
  Transition step{TaskState::held, TaskState::blocked, std::string{actors::move},
                  "was moved here from " + from_.name()};
  step.token = task.token;
  step.attempt = task.attempt;
  step.at = to_.clock().wall();
  parcel.history.push_back({std::move(step)});
}

void StoreMove::take(const std::vector<TaskId>& ids) {
  auto parcels = from_.transfer().pack(ids);
  // Somebody may have claimed, cancelled or released it meanwhile.
  std::erase_if(parcels, [&](const Parcel& parcel) { return !is_marked(parcel.task); });
  if (parcels.empty()) return;
  auto gate = make_gate();
  for (auto& parcel : parcels) {
    unfinished_.insert(parcel.task.id);
    prepare(parcel, gate);
  }
  adopt(parcels);
}

void StoreMove::adopt(const std::vector<Parcel>& parcels) {
  if (parcels.empty()) return;
  auto answers = to_.transfer().adopt(parcels);
  std::vector<const TaskRecord*> adopted;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const auto& task = parcels[i].task;
    if (answers[i] == Adopted::key_taken) {
      unfinished_.erase(task.id);
      if (std::ranges::count(result_.left, task.id) == 0) result_.left.push_back(task.id);
      continue;
    }
    adopted.push_back(&task);
    if (!there_.insert(task.id).second) continue;
    taken_.push_back(task.id);
    bool over = task.state == TaskState::completed || task.state == TaskState::cancelled;
    ++(over ? result_.finished : result_.moved);
  }
  if (options_.take_along) options_.take_along(adopted);
}

bool StoreMove::all_there(const std::vector<TaskId>& ids) {
  return std::ranges::all_of(ids, [&](TaskId id) {
    if (there_.contains(id)) return true;
    TaskFilter one;
    one.ids = {id};
    return to_.admin().count(one) == 1;
  });
}

/// It may not have heard yet that something it waits for has completed.
void StoreMove::drop_completed(TaskRecord& task) {
  std::erase_if(task.waits_for, [&](TaskId id) {
    TaskFilter completed{.states = {TaskState::completed}};
    completed.ids = {id};
    return !there_.contains(id) && from_.admin().count(completed) == 1;
  });
}

/// What waits for other tasks or for a person, and dead letters. What they wait for goes first; it
/// is older, so mostly one round is enough.
void StoreMove::take_rest() {
  for (TaskFilter blocked{.states = {TaskState::blocked}};;) {
    auto ids = ids_of(from_.admin().search(blocked, {.limit = a_handful, .newest_first = false}));
    if (ids.empty()) break;
    mark(ids);
  }
  std::vector<TaskId> rest;
  TaskFilter others{.states = {TaskState::held, TaskState::failed}};
  each_page(from_.admin(), others, [&](const std::vector<TaskRecord>& page) {
    for (const auto& task : page)
      if (!there_.contains(task.id) && std::ranges::count(result_.left, task.id) == 0)
        rest.push_back(task.id);
  });
  while (!rest.empty()) {
    std::vector<TaskId> later;
    in_handfuls(rest, [&](const std::vector<TaskId>& some) {
      std::vector<Parcel> ready;
      std::optional<TaskId> gate;
      for (auto& parcel : from_.transfer().pack(some)) {
        drop_completed(parcel.task);
        if (!all_there(parcel.task.waits_for)) {
          later.push_back(parcel.task.id);
        } else if (is_marked(parcel.task)) {
          if (!gate) gate = make_gate();
          unfinished_.insert(parcel.task.id);
          prepare(parcel, *gate);
          ready.push_back(std::move(parcel));
        } else {
          ready.push_back(std::move(parcel));
        }
      }
      adopt(ready);
    });
    if (later.size() == rest.size()) break;
    rest = std::move(later);
  }
  for (auto id : rest)
    if (!there_.contains(id) && std::ranges::count(result_.left, id) == 0)
      result_.left.push_back(id);
}

void StoreMove::take_finished(TaskState state) {
  each_page(from_.admin(), {.states = {state}}, [&](const std::vector<TaskRecord>& page) {
    in_handfuls(ids_of(page), [&](const std::vector<TaskId>& some) {
      auto parcels = from_.transfer().pack(some);
      // They waited for nothing when they ended.
      for (auto& parcel : parcels) parcel.task.waits_for.clear();
      adopt(parcels);
    });
  });
}

/// Nothing has run there yet, so what was taken must be there, every single one.
void StoreMove::check_counts() {
  std::int64_t found = 0;
  in_handfuls(std::vector<TaskId>{unfinished_.begin(), unfinished_.end()}, [&](const auto& some) {
    TaskFilter filter;
    filter.ids = some;
    found += to_.admin().count(filter);
  });
  if (found != std::ssize(unfinished_))
    throw StoreError{fmt::format(
        "{} tasks were taken, but {} has only {} of them; nothing was removed from {}, run the "
        "move again",
        unfinished_.size(), to_.name(), found, from_.name())};
}

void StoreMove::forget_taken() {
  in_handfuls(taken_, [&](const std::vector<TaskId>& some) { from_.transfer().forget(some); });
}

void StoreMove::open_gates() {
  auto until = now() + options_.patience;
  TaskFilter gates{.kind = gate_kind(note_)};
  auto closed = gates;
  closed.states = {TaskState::pending, TaskState::running, TaskState::held, TaskState::failed};
  auto worker = to_.workers().enlist({.queues = {}, .kinds = {gates.kind}});
  while (to_.admin().count(closed) > 0) {
    if (open_some_gates(worker->id())) continue;
    if (now() > until)
      throw StoreError{fmt::format(
          "something in {} keeps the moved tasks from starting, such as a limit or a paused queue "
          "'holdfast-move'; remove it and run the move again",
          to_.name())};
    Inspector{to_engine_, std::string{actors::move}}.recover();
    to_.tasks().wait_for_work(look_again);
  }
  to_.workers().retire(worker->id());
  gates.states = {TaskState::completed};
  for (;;) {
    auto open = ids_of(to_.admin().search(gates, {.limit = a_handful, .newest_first = false}));
    if (open.empty()) return;
    to_.transfer().forget(open);
  }
}

/// False: there is none that could be opened now.
bool StoreMove::open_some_gates(WorkerId worker) {
  TaskAdmin::Move again;
  again.to = TaskState::pending;
  again.from = {TaskState::held, TaskState::failed};
  again.fresh_attempts = true;
  again.actor = actors::move;
  again.reason = "who was to open it died";
  to_.admin().move({.kind = gate_kind(note_)}, again);
  Exchange exchange;
  exchange.claim = ClaimRequest{.worker = worker, .kinds = {gate_kind(note_)}, .limit = 1};
  auto claimed = perform_exchange(to_, worker, exchange).claimed;
  if (claimed.empty()) return false;
  Exchange ends;
  for (const auto& gate : claimed)
    ends.settle.push_back({.lease = gate.lease, .attempt = gate.attempt});
  perform_exchange(to_, worker, ends);
  return true;
}

}  // namespace holdfast
