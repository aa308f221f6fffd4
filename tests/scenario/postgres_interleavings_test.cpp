#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "support/postgres_gate.hpp"
#include "tasks/engine_parts.hpp"
#include "transactions/transaction_store.hpp"

namespace holdfast::test {
namespace {

using testing::AnyOf;
using testing::SizeIs;

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

TEST_F(PostgresInterleavings, TheLastTwoPrerequisitesEndTogether) {
  std::vector<Claimed> had;
  TaskId waits{};
  in_every_order(
      [&] {
        std::vector<TaskId> after{insert(), insert()};
        waits = insert({.after = after});
        had = claim(engine_, worker(), 2);
      },
      [&] { settle(a_, had.at(0)); }, [&] { settle(b_, had.at(1)); },
      [&] {
        EXPECT_EQ(state(waits), TaskState::pending);
        clear();
      });
}

TEST_F(PostgresInterleavings, OnePrerequisiteEndsAndOneIsCancelled) {
  std::vector<Claimed> had;
  TaskId waits{}, waits_for_that{};
  in_every_order(
      [&] {
        std::vector<TaskId> after{insert(), insert()};
        waits = insert({.after = after});
        waits_for_that = insert({.after = {waits}});
        had = claim(engine_, worker(), 2);
      },
      [&] { settle(a_, had.at(0)); }, [&] { settle(b_, had.at(1), TaskState::cancelled); },
      [&] {
        EXPECT_EQ(state(waits), TaskState::cancelled);
        EXPECT_EQ(state(waits_for_that), TaskState::cancelled);
        clear();
      });
}

TEST_F(PostgresInterleavings, APrerequisiteEndsWhileATaskIsInsertedThatWaitsForIt) {
  std::optional<Claimed> had;
  TaskId waits{};
  in_every_order(
      [&] {
        insert();
        had = claim_one();
      },
      [&] { waits = insert(a_, {.after = {had->lease.id}}); }, [&] { settle(b_, *had); },
      [&] {
        EXPECT_EQ(state(waits), TaskState::pending);
        clear();
      });
}

TEST_F(PostgresInterleavings, APrerequisiteIsCancelledWhileATaskIsInsertedThatWaitsForIt) {
  TaskId first{};
  std::optional<TaskId> waits;
  in_every_order(
      [&] {
        first = insert();
        waits.reset();
      },
      [&] {
        try {
          waits = insert(a_, {.after = {first}});
        } catch (const InvalidRequest&) {
          // It was cancelled before.
        }
      },
      [&] { cancel(b_, first); },
      [&] {
        EXPECT_EQ(state(first), TaskState::cancelled);
        if (waits) {
          EXPECT_EQ(state(*waits), TaskState::cancelled);
        }
      });
}

TEST_F(PostgresInterleavings, AnEffectIsRecordedWhileItsTaskIsTakenBack) {
  std::optional<Claimed> had;
  std::vector<Recorded> recorded;
  bool taken = false;
  in_every_order([&] { had = orphan(); },
                 [&] {
                   Note note{had->lease, EffectNote{"paid", "1"}};
                   recorded = a_.parts().tasks().record(std::span{&note, 1});
                 },
                 [&] { taken = reclaim(b_, had->lease); },
                 [&] {
                   // A reclaim passes over what is locked, and is done again.
                   if (!taken) taken = reclaim(engine_, had->lease);
                   EXPECT_TRUE(taken);
                   auto again = claim_one();
                   Note note{again.lease, EffectNote{"paid", "2"}};
                   auto now = tasks().record(std::span{&note, 1}).at(0);
                   EXPECT_EQ(now.value, recorded.at(0).accepted ? "1" : "2");
                   clear();
                 });
}

TEST_F(PostgresInterleavings, ATransactionTakesAStepWhileItIsTakenOver) {
  std::optional<Claimed> had;
  Stepped stepped;
  in_every_order(
      [&] { had = orphan(); },
      [&] {
        stepped = a_.parts().transactions().step(
            {.lease = had->lease, .from = "one", .to = "two", .record = {{"parts", 1, "x"}}});
      },
      [&] { reclaim(b_, had->lease); },
      [&] {
        reclaim(engine_, had->lease);
        auto again = claim_one();
        EXPECT_GT(again.lease.token, had->lease.token);
        auto rows = engine_.parts().transactions().find(std::span{&again.lease.id, 1});
        EXPECT_EQ(rows.at(0).has_value(), stepped.accepted);
        EXPECT_THAT(engine_.parts().transactions().ledger(again.lease.id),
                    SizeIs(stepped.accepted ? 1 : 0));
        clear();
      });
}

TEST_F(PostgresInterleavings, AWorkerClaimsWhileItIsBuried) {
  Sighting sighting;
  std::vector<Claimed> claimed;
  std::size_t held = 0;
  in_every_order(
      [&] {
        insert();
        sighting = die(enlist());
      },
      [&] { claimed = claim(a_, sighting.status.id); },
      [&] {
        EXPECT_TRUE(bury(b_, sighting));
        held = tasks().orphans(10).size();
      },
      [&] {
        EXPECT_EQ(claimed.size(), held) << "nothing is claimed after it";
        for (const auto& one : tasks().orphans(10)) EXPECT_TRUE(reclaim(engine_, one.lease));
        clear();
      });
}

TEST_F(PostgresInterleavings, ATaskIsSettledWhileItIsTakenBack) {
  std::optional<Claimed> had;
  Settled settled{};
  bool taken = false;
  in_every_order([&] { had = orphan(); }, [&] { settled = settle(a_, *had); },
                 [&] { taken = reclaim(b_, had->lease); },
                 [&] {
                   EXPECT_NE(settled == Settled::accepted, taken);
                   EXPECT_EQ(state(had->lease.id),
                             taken ? TaskState::pending : TaskState::completed);
                   clear();
                 });
}

TEST_F(PostgresInterleavings, TwoTakeTheSameTaskBack) {
  std::optional<Claimed> had;
  int taken = 0;
  std::mutex mutex;
  auto take = [&](Engine& engine) {
    bool done = reclaim(engine, had->lease);
    std::lock_guard lock{mutex};
    taken += done ? 1 : 0;
  };
  in_every_order(
      [&] {
        had = orphan();
        taken = 0;
      },
      [&] { take(a_); }, [&] { take(b_); },
      [&] {
        EXPECT_EQ(taken, 1);
        EXPECT_EQ(record(had->lease.id).recoveries, 1);
        clear();
      });
}

TEST_F(PostgresInterleavings, ATaskThatIsGivenBackIsAskedToStop) {
  std::optional<Claimed> had;
  in_every_order(
      [&] {
        insert();
        had = claim_one();
      },
      [&] { settle(a_, *had, TaskState::pending); }, [&] { cancel(b_, had->lease.id); },
      [&] {
        EXPECT_EQ(state(had->lease.id), TaskState::cancelled);
        clear();
      });
}

TEST_F(PostgresInterleavings, ATaskThatIsTakenBackIsAskedToStop) {
  std::optional<Claimed> had;
  in_every_order([&] { had = orphan(); }, [&] { reclaim(a_, had->lease); },
                 [&] { cancel(b_, had->lease.id); },
                 [&] {
                   auto now = record(had->lease.id);
                   EXPECT_TRUE(now.state == TaskState::cancelled ||
                               (now.state == TaskState::running && now.cancel_requested))
                       << to_string(now.state);
                   clear();
                 });
}

TEST_F(PostgresInterleavings, TwoInsertTasksOfTheSameKey) {
  std::vector<TaskId> ids(2);
  in_every_order([] {}, [&] { ids[0] = insert(a_, {.unique_key = "only"}); },
                 [&] { ids[1] = insert(b_, {.unique_key = "only"}); },
                 [&] {
                   EXPECT_EQ(ids[0], ids[1]);
                   clear();
                 });
}

TEST_F(PostgresInterleavings, ADeadLetterRunsAgainWhileAnotherTaskOfItsKeyIsInserted) {
  TaskId dead{};
  in_every_order(
      [&] {
        dead = insert({.unique_key = "only"});
        settle(engine_, claim_one(), TaskState::failed);
      },
      [&] { Inspector{a_}.retry({.ids = {dead}}); }, [&] { insert(b_, {.unique_key = "only"}); },
      [&] {
        const TaskFilter waiting{.states = {TaskState::pending}};
        EXPECT_THAT(engine_.parts().admin().search(waiting, TaskPage{}), SizeIs(1));
        clear();
      });
}

TEST_F(PostgresInterleavings, TwoClaimWhereOnlyOneMayRun) {
  Limits{engine_}.set({.scope = LimitScope::queue, .name = "default", .max_running = 1});
  std::vector<std::vector<Claimed>> claimed(2);
  in_every_order(
      [&] {
        insert();
        insert();
        worker();
      },
      [&] { claimed[0] = claim(a_, worker()); }, [&] { claimed[1] = claim(b_, worker()); },
      [&] {
        EXPECT_EQ(claimed[0].size() + claimed[1].size(), 1u);
        clear();
      });
}

TEST_F(PostgresInterleavings, TwoClaimTheSameTasks) {
  std::vector<std::vector<Claimed>> claimed(2);
  in_every_order(
      [&] {
        for (int i = 0; i < 3; ++i) insert();
        worker();
      },
      [&] { claimed[0] = claim(a_, worker(), 2); }, [&] { claimed[1] = claim(b_, worker(), 2); },
      [&] {
        std::set<TaskId> ids;
        for (const auto& some : claimed)
          for (const auto& one : some) EXPECT_TRUE(ids.insert(one.lease.id).second);
        EXPECT_THAT(ids, SizeIs(3)) << "none waits for the other";
        clear();
      });
}

TEST_F(PostgresInterleavings, TwoOperatorsWantDifferentThings) {
  TaskId id{}, waits{};
  in_every_order(
      [&] {
        id = insert();
        waits = insert({.after = {id}});
      },
      [&] { cancel(a_, id); }, [&] { Inspector{b_}.hold({.ids = {id}}, "wait"); },
      [&] {
        // Who looked for it in a state that it has left does nothing.
        auto now = state(id);
        EXPECT_THAT(now, AnyOf(TaskState::cancelled, TaskState::held));
        EXPECT_EQ(state(waits),
                  now == TaskState::cancelled ? TaskState::cancelled : TaskState::blocked);
        clear();
      });
}

TEST_F(PostgresInterleavings, APrerequisiteThatEndedIsForgottenWhileATaskIsInsertedAfterIt) {
  TaskId ended{};
  std::optional<TaskId> waits;
  most_changes_ = 2;
  Settings::Retention nothing;
  nothing.completed = std::chrono::hours{0};
  nothing.max_finished = 0;
  in_every_order(
      [&] {
        ended = insert();
        settle(engine_, claim_one());
        waits.reset();
      },
      [&] {
        try {
          waits = insert(a_, {.after = {ended}});
        } catch (const InvalidRequest&) {
          // It is not known any more.
        }
      },
      [&] { b_.parts().admin().prune(nothing, 10); },
      [&] {
        if (waits) {
          EXPECT_EQ(state(*waits), TaskState::pending);
        }
        clear();
      });
}

}  // namespace
}  // namespace holdfast::test
