#include "faults/workload.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "engines/sqlite/engine.hpp"
#include "faults/file_calls.hpp"

namespace holdfast::test {

namespace {

constexpr Millis lease_time{90'000};
/// Numbers of tasks with large payloads, so that a handful of them fills the log.
constexpr int first_large = 60, last_large = 200;

ReportHead recovery_of(Workplace& at) {
  return {ReportId::make(), at.engine().clock().wall(), "test"};
}

void bury_the_dead(Workplace& at) {
  for (const auto& seen : at.engine().workers().look())
    if (seen.proven_dead && !seen.buried) at.engine().workers().bury(seen, recovery_of(at));
}

void take_back_orphans(Workplace& at) {
  std::vector<Verdict> verdicts;
  for (const auto& orphan : at.engine().tasks().orphans(100))
    verdicts.push_back({.lease = orphan.lease,
                        .attempt = orphan.attempt,
                        .suspect = true,
                        .reason = "its worker died",
                        .cause = {}});
  at.engine().tasks().reclaim(verdicts, recovery_of(at));
}

void clear_up(Workplace& at) {
  for (const auto& seen : at.engine().workers().look())
    if (seen.buried) at.engine().workers().clear(seen.status.id);
}

void record_notes(Workplace& at) {
  std::vector<Note> notes{{at.lease(6), ProgressNote{0.5, "half way"}},
                          {at.lease(6), LogNote{"a line", 1}},
                          {at.lease(6), EffectNote{"sent", "\"first\""}},
                          {at.lease(6), EffectNote{"sent", "\"second\""}}};
  at.engine().tasks().record(notes);
}

void insert_some(Workplace& at, int first, int last) {
  std::vector<NewTask> tasks;
  for (int n = first; n <= last; ++n) tasks.push_back(Workplace::task(n));
  at.insert(std::move(tasks));
}

std::vector<NewTask> various_tasks() {
  std::vector<NewTask> tasks;
  for (int n = 2; n <= 27; ++n) tasks.push_back(Workplace::task(n));
  tasks.push_back(Workplace::task(28, {.queue = "other"}));
  tasks.push_back(Workplace::task(29, {.priority = 5, .tags = {"red", "blue"}}));
  tasks.push_back(Workplace::task(30, {.delay = Millis{3'600'000}}));
  tasks.push_back(Workplace::task(31, {.priority = 4, .unique_key = "only one"}));
  return tasks;
}

const std::vector<Step> beginning{
    {"create", [](Workplace& at) { at.open(); }},
    {"enqueue one", [](Workplace& at) { at.insert({at.task(1, {.priority = 1})}); }},
    {"enqueue many", [](Workplace& at) { at.insert(various_tasks()); }},
    {"enqueue what waits",
     [](Workplace& at) {
       at.insert({at.task(40, {.after = {at.id(2)}}), at.task(41, {.after = {at.id(40)}})});
     }},
    {"enqueue again", [](Workplace& at) { at.insert({at.task(1, {.priority = 1})}); }},
    {"enlist", [](Workplace& at) { at.enlist(); }},
    {"claim", [](Workplace& at) { at.engine().tasks().exchange({.claim = at.claim(8)}); }},
    {"record", record_notes},
    {"complete with follow-ups",
     [](Workplace& at) {
       at.settle({.lease = at.lease(1),
                  .result = "{\"done\":1}",
                  .attempt = 1,
                  .follow_ups = {at.task(50), at.task(51)}});
     }},
    {"complete what others wait for",
     [](Workplace& at) { at.settle({.lease = at.lease(2), .attempt = 1}); }},
    {"retry",
     [](Workplace& at) {
       at.settle({.lease = at.lease(3),
                  .to = TaskState::pending,
                  .reason = "not yet",
                  .attempt = 1,
                  .delay = Millis{60'000}});
     }},
    {"fail",
     [](Workplace& at) {
       at.settle({.lease = at.lease(4), .to = TaskState::failed, .reason = "never", .attempt = 1});
     }},
    {"give back",
     [](Workplace& at) {
       at.settle({.lease = at.lease(5), .to = TaskState::pending, .was_attempt = false});
     }},
};

const std::vector<Step> middle{
    {"renew",
     [](Workplace& at) {
       std::vector<Lease> leases{at.lease(6), at.lease(7), at.lease(8)};
       at.engine().tasks().renew(leases, lease_time);
     }},
    {"beat", [](Workplace& at) { at.engine().workers().beat(at.worker(), {}); }},
    {"cancel", [](Workplace& at) { at.move(9, TaskState::pending, TaskState::cancelled); }},
    {"ask to stop", [](Workplace& at) { at.move(7, TaskState::running, TaskState::cancelled); }},
    {"be cancelled",
     [](Workplace& at) {
       at.settle({.lease = at.lease(7), .to = TaskState::cancelled, .attempt = 1});
     }},
    {"enqueue until the log is large", [](Workplace& at) { insert_some(at, 60, 80); }},
    {"enqueue into a new log", [](Workplace& at) { insert_some(at, 220, 222); }},
    {"complete and claim",
     [](Workplace& at) {
       Settlement end{.lease = at.lease(6), .result = "{\"done\":6}", .attempt = 1};
       at.engine().tasks().exchange({.settle = {end}, .claim = at.claim(3)});
     }},
    {"complete too late",
     [](Workplace& at) {
       at.settle({.lease = {at.id(10), Token{1}}, .attempt = 1});
     }},
    {"pause", [](Workplace& at) { at.engine().admin().set_paused("other", true, "operator"); }},
    {"resume", [](Workplace& at) { at.engine().admin().set_paused("other", false, "operator"); }},
};

const std::vector<Step> ending{
    {"enlist another", [](Workplace& at) { at.enlist(); }},
    {"claim by another",
     [](Workplace& at) { at.engine().tasks().exchange({.claim = at.claim(4)}); }},
    {"let the other die", [](Workplace& at) { at.let_die(); }},
    {"bury", bury_the_dead},
    {"take back", take_back_orphans},
    {"clear", clear_up},
    {"report", [](Workplace& at) { at.engine().reports().complete(recovery_of(at), {}); }},
    {"hold", [](Workplace& at) { at.move(20, TaskState::pending, TaskState::held); }},
    {"redrive", [](Workplace& at) { at.move(4, TaskState::failed, TaskState::pending); }},
    {"prune", [](Workplace& at) { at.engine().admin().prune({.max_finished = 2}); }, true},
    {"enqueue until the log is large again", [](Workplace& at) { insert_some(at, 130, 155); }},
    {"close", [](Workplace& at) { at.close(); }},
    {"open again", [](Workplace& at) { at.open(); }},
    {"complete the last one",
     [](Workplace& at) { at.settle({.lease = at.lease(8), .attempt = 1}); }},
    {"retire", [](Workplace& at) { at.engine().workers().retire(at.worker()); }},
};

std::vector<Step> all_steps() {
  auto steps = beginning;
  steps.insert(steps.end(), middle.begin(), middle.end());
  steps.insert(steps.end(), ending.begin(), ending.end());
  return steps;
}

}  // namespace

void Workplace::open() { engine_ = sqlite::open_store(database(), settings_, clock_); }

TaskId Workplace::id(int number) {
  TaskId id;
  id.bytes[0] = 1;
  id.bytes[14] = static_cast<std::uint8_t>(number >> 8);
  id.bytes[15] = static_cast<std::uint8_t>(number);
  return id;
}

std::string Workplace::payload_of(TaskId id) {
  int number = id.bytes[14] << 8 | id.bytes[15];
  std::string padding(number >= first_large && number <= last_large ? 8'000 : 10, 'x');
  return fmt::format(R"({{"n":{},"x":"{}"}})", number, padding);
}

NewTask Workplace::task(int number, TaskOptions options) {
  options.id = id(number);
  return {"work", payload_of(*options.id), std::move(options)};
}

void Workplace::insert(std::vector<NewTask> tasks) { engine_->tasks().insert(tasks); }

void Workplace::enlist() {
  workers_.push_back(engine_->workers().enlist(
      {.queues = {}, .kinds = {"work"}, .concurrency = 2, .lease = lease_time}));
}

ClaimRequest Workplace::claim(int limit) const {
  return {.worker = worker(), .kinds = {"work"}, .limit = limit, .lease = lease_time};
}

Lease Workplace::lease(int number) {
  auto found = engine_->admin().search({.ids = {id(number)}}, {});
  if (found.size() != 1) throw std::runtime_error{fmt::format("task {} is not there", number)};
  return {found.front().id, found.front().token};
}

void Workplace::settle(Settlement settlement) {
  engine_->tasks().exchange({.settle = {std::move(settlement)}});
}

void Workplace::move(int number, TaskState from, TaskState to) {
  TaskAdmin::Move move;
  move.to = to;
  move.from = {from};
  move.ask_running = from == TaskState::running;
  move.fresh_attempts = from == TaskState::failed;
  move.actor = "operator";
  move.reason = "so it was decided";
  engine_->admin().move({.ids = {id(number)}}, move);
}

const std::vector<Step>& workload() {
  static const auto steps = all_steps();
  return steps;
}

const Snapshot& state_after(std::size_t steps) {
  static const auto states = [] {
    intercept_file_calls();
    Workplace place;
    std::vector<Snapshot> taken{Snapshot{}};
    for (const auto& step : workload()) {
      place.clock().advance(Millis{1'000});
      step.act(place);
      taken.push_back(snapshot(place.database(), true));
    }
    return taken;
  }();
  return states.at(steps);
}

}  // namespace holdfast::test
