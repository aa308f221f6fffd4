#include "scenario/postgres_interleavings.hpp"

#include <mutex>
#include <optional>

#include "transactions/transaction_store.hpp"

namespace holdfast::test {
namespace {

using testing::SizeIs;

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

}  // namespace
}  // namespace holdfast::test
