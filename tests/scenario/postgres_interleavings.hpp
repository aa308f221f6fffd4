#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "support/postgres_gate.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {

/// Two steps on the same tasks, each by a process of its own, with their statements in every order
/// that the server's locks allow.
class PostgresInterleavings : public testing::Test {
 protected:
  using Act = std::function<void()>;

  PostgresInterleavings() {
    // Two that wait for each other are told so at once, and one of them tries again.
    server_.ask("ALTER SYSTEM SET deadlock_timeout = '20ms'");
    server_.ask("SELECT pg_reload_conf()");
  }

  void in_every_order(const Act& prepare, const Act& first, const Act& second, const Act& check) {
    constexpr int most_orders = 5'000;
    std::vector<Turns::Next> choices;
    int orders = 0;
    do {
      prepare();
      run(first, second, choices);
      std::string order;
      for (auto next : choices) order += next == Turns::Next::same ? '.' : '|';
      SCOPED_TRACE("changes from one step to the other: " + order);
      check();
      ASSERT_LT(++orders, most_orders);
    } while (!HasFailure() && next(choices));
    RecordProperty("orders", orders);
    EXPECT_TRUE(HasFailure() || orders > 1) << "otherwise they are not at the same time";
  }

  void run(const Act& first, const Act& second, std::vector<Turns::Next>& choices) {
    Turns turns;
    gate_a_.set_turns(&turns);
    gate_b_.set_turns(&turns);
    {
      auto act = [&](const Act& step, Turns::Actor actor) {
        return std::jthread{[&turns, &step, actor] {
          try {
            step();
          } catch (const std::exception& error) {
            ADD_FAILURE() << "step " << actor << ": " << error.what();
          }
          turns.finish(actor);
        }};
      };
      auto a = act(first, 0), b = act(second, 1);
      turns.direct(locks_, choices);
    }
    gate_a_.set_turns(nullptr);
    gate_b_.set_turns(nullptr);
  }

  /// The next order; false: there is none.
  bool next(std::vector<Turns::Next>& choices) const {
    auto changes = [&] { return std::ranges::count(choices, Turns::Next::other); };
    while (!choices.empty() && (choices.back() == Turns::Next::other || changes() == most_changes_))
      choices.pop_back();
    if (choices.empty()) return false;
    choices.back() = Turns::Next::other;
    return true;
  }

  TaskStore& tasks() { return engine_.parts().tasks(); }
  static TaskId insert(Engine& engine, TaskOptions options = {}) {
    NewTask task{"job", "{}", std::move(options)};
    return engine.parts().tasks().insert(std::span{&task, 1}).at(0).id;
  }
  TaskId insert(TaskOptions options = {}) { return insert(engine_, std::move(options)); }

  WorkerId enlist() {
    enlistments_.push_back(engine_.parts().workers().enlist(
        {.queues = {}, .kinds = {"job"}, .lease = Millis{90'000}}));
    return enlistments_.back()->id();
  }
  WorkerId worker() {
    if (enlistments_.empty()) enlist();
    return enlistments_.front()->id();
  }
  static std::vector<Claimed> claim(Engine& engine, WorkerId worker, int limit = 1) {
    ClaimRequest request{.worker = worker, .kinds = {"job"}, .limit = limit, .max_suspects = limit};
    return engine.parts().tasks().exchange({.claim = request}).claimed;
  }
  Claimed claim_one() { return claim(engine_, worker()).at(0); }
  static Settled settle(Engine& engine, const Claimed& claimed,
                        TaskState to = TaskState::completed) {
    return engine.parts()
        .tasks()
        .exchange({.settle = {{.lease = claimed.lease, .to = to, .attempt = claimed.attempt}}})
        .settled.at(0);
  }
  static bool reclaim(Engine& engine, const Lease& lease, bool expired = false) {
    Verdict verdict{.lease = lease, .expired = expired, .reason = "its worker died", .cause = {}};
    const ReportHead report{ReportId::make(), system_clock().wall(), "test"};
    return engine.parts().tasks().reclaim(std::span{&verdict, 1}, report).at(0);
  }
  /// Ends a worker and returns the look that proves it.
  Sighting die(WorkerId worker) {
    std::erase_if(enlistments_, [&](const auto& each) { return each->id() == worker; });
    for (;;) {
      for (const auto& each : engine_.parts().workers().look())
        if (each.status.id == worker && each.proven_dead) return each;
    }
  }
  static bool bury(Engine& engine, const Sighting& sighting) {
    const ReportHead report{ReportId::make(), system_clock().wall(), "test"};
    return engine.parts().workers().bury(sighting, report);
  }
  /// One task in the hands of a worker that was declared dead.
  Claimed orphan() {
    if (orphans_.empty()) {
      constexpr int many = 50;
      for (int i = 0; i < many; ++i) insert();
      auto worker = enlist();
      orphans_ = claim(engine_, worker, many);
      bury(engine_, die(worker));
    }
    auto one = orphans_.back();
    orphans_.pop_back();
    return one;
  }
  TaskRecord record(TaskId id) {
    return engine_.parts().admin().search(TaskFilter{.ids = {id}}, TaskPage{}).at(0);
  }
  TaskState state(TaskId id) { return record(id).state; }
  static std::int64_t cancel(Engine& engine, TaskId id) {
    return Inspector{engine}.cancel({.ids = {id}});
  }
  /// So that the next order begins without tasks that can be claimed.
  void clear() {
    auto is_kept = [&](TaskId id) {
      return std::ranges::any_of(orphans_, [&](const auto& one) { return one.lease.id == id; });
    };
    Inspector{engine_}.cancel(
        {.states = {TaskState::pending, TaskState::blocked, TaskState::failed, TaskState::held}});
    for (const auto& one : engine_.parts().admin().search({.states = {TaskState::running}}, {}))
      if (!is_kept(one.id)) Inspector{engine_}.cancel({.ids = {one.id}}, true);
  }

  /// How often one step may pass the turn to the other although it could continue: what goes wrong
  /// needs few of them, and their number decides how many orders there are.
  int most_changes_ = 4;
  PostgresServer& server_ = PostgresServer::shared();
  PostgresLocks locks_{server_};
  std::string store_ = server_.new_store();
  PostgresGate gate_a_{server_, 0}, gate_b_{server_, 1};
  Engine engine_ = open(store_);
  Engine a_ = open(gate_a_.address(store_)), b_ = open(gate_b_.address(store_));
  std::vector<std::unique_ptr<Enlistment>> enlistments_;
  std::vector<Claimed> orphans_;
};

}  // namespace holdfast::test
