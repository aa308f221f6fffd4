#include "scenario/postgres_interleavings.hpp"

#include <optional>
#include <set>

namespace holdfast::test {
namespace {

using testing::AnyOf;
using testing::SizeIs;

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
