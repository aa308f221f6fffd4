#include "engines/sqlite/row_sum.hpp"

#include <sqlite3.h>

#include <gmock/gmock.h>

#include <fmt/format.h>
#include <holdfast/holdfast.hpp>

#include "support/temp_store.hpp"
#include "tasks/engine_parts.hpp"
#include "transactions/transaction_store.hpp"

namespace holdfast::sqlite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A store whose file is damaged behind the engine's back, the way a disk would: the row changes,
/// its sums do not.
class RowSums : public testing::Test {
 protected:
  TaskId add(const std::string& kind = "a", TaskOptions options = {}) {
    NewTask task{kind, R"({"amount":100})", std::move(options)};
    return engine_.parts().tasks().insert(std::span{&task, 1}).at(0).id;
  }

  void damage(const std::string& what) {
    Connection db{folder_.database(), Connection::Mode::read_write, Durability::crash_safe};
    sqlite3_db_config(db.handle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
    db.execute(what);
  }

  std::vector<TaskId> damaged() {
    Connection db{folder_.database(), Connection::Mode::read_only, Durability::crash_safe};
    std::vector<TaskId> ids;
    find_damaged_rows(db, [&](const DamagedRow& row) { ids.push_back(row.id); });
    return ids;
  }

  Exchanged claim(int limit = 10) {
    auto& tasks = engine_.parts().tasks();
    return tasks.exchange(
        {.claim = ClaimRequest{.worker = worker_->id(), .kinds = {"a", "b"}, .limit = limit}});
  }

  TaskRecord record(TaskId id) { return Inspector{engine_}.task(id).value(); }

  test::TempStore folder_;
  Engine engine_ = open(folder_.address());
  std::unique_ptr<Enlistment> worker_ =
      engine_.parts().workers().enlist(WorkerProfile{{}, {"a", "b"}, 1, Millis{90'000}});
};

TEST_F(RowSums, FitWhateverHappensToATask) {
  auto first = add("a", {.backoff = {.factor = 3}, .unique_key = "k", .tags = {"x"}});
  add("b", {.after = {first}});
  std::vector<NewTask> many(45, NewTask{"a", "{}", {}});
  engine_.parts().tasks().insert(many);
  EXPECT_THAT(damaged(), IsEmpty());
  auto claimed = claim(100).claimed;
  ASSERT_EQ(claimed.size(), 46u);
  EXPECT_THAT(damaged(), IsEmpty());
  Exchange end;
  for (auto& one : claimed) end.settle.push_back({.lease = one.lease, .attempt = 1});
  end.settle.back().to = TaskState::pending;
  end.settle.back().delay = Millis{5};
  engine_.parts().tasks().exchange(end);
  EXPECT_THAT(damaged(), IsEmpty());
  Inspector inspector{engine_};
  inspector.hold({}, "wait");
  inspector.retry({});
  EXPECT_THAT(damaged(), IsEmpty());
}

struct Blow {
  const char* name;
  const char* sql;
};

class DamagedRows : public RowSums, public testing::WithParamInterface<Blow> {};

TEST_P(DamagedRows, AreSeenAndKeptFromHandlers) {
  auto sound = add();
  auto hit = add("a", {.unique_key = "u", .tags = {"t"}});
  damage(std::string{"UPDATE holdfast_tasks SET "} + GetParam().sql + " WHERE seq = 2");
  EXPECT_THAT(damaged(), ElementsAre(hit));

  std::vector<TaskId> claimed;
  for (const auto& one : claim().claimed) claimed.push_back(one.lease.id);
  EXPECT_THAT(claimed, ElementsAre(sound));
}

INSTANTIATE_TEST_SUITE_P(
    Each, DamagedRows,
    testing::Values(Blow{"Payload", R"(payload = '{"amount":900}')"}, Blow{"Tags", "tags = NULL"},
                    Blow{"UniqueKey", "unique_key = 'v'"}, Blow{"Backoff", "backoff = '1 2 3 4'"},
                    Blow{"Lane", "lane = 2"}, Blow{"Priority", "priority = 1"},
                    Blow{"Due", "run_at = 5"}, Blow{"Token", "token = 9"},
                    Blow{"Attempt", "attempt = 2"}, Blow{"Limit", "max_attempts = 7"},
                    Blow{"Timeout", "timeout = 1"}, Blow{"Suspect", "suspect = 1"},
                    Blow{"Running", "state = 1"}, Blow{"Completed", "state = 2"},
                    Blow{"SumOfPayload", "payload_sum = payload_sum + 1"},
                    Blow{"SumOfRow", "row_sum = row_sum + 1"}),
    [](const auto& blow) { return std::string{blow.param.name}; });

TEST_F(RowSums, AnEffectThatIsDamagedIsKeptFromALaterAttempt) {
  auto id = add();
  auto lease = claim().claimed.at(0).lease;
  Note note{lease, EffectNote{"charge", "17"}};
  EXPECT_EQ(engine_.parts().tasks().record(std::span{&note, 1}).at(0).value, "17");
  Exchange back;
  back.settle.push_back({.lease = lease, .to = TaskState::pending, .attempt = 1});
  engine_.parts().tasks().exchange(back);
  damage("UPDATE holdfast_effects SET value = '18'");
  auto answer = claim();
  EXPECT_THAT(answer.claimed, IsEmpty());
  ASSERT_EQ(answer.damaged.size(), 1u);
  EXPECT_EQ(record(id).state, TaskState::held);
  EXPECT_EQ(record(id).cause, "damaged");
}

TEST_F(RowSums, AnEffectThatIsDamagedIsNotGivenToAHandler) {
  add();
  auto lease = claim().claimed.at(0).lease;
  Note note{lease, EffectNote{"charge", "17"}};
  engine_.parts().tasks().record(std::span{&note, 1});
  damage("UPDATE holdfast_effects SET key = 'refund'");
  note.what = EffectNote{"refund", "17"};
  EXPECT_THROW(engine_.parts().tasks().record(std::span{&note, 1}), StoreDamaged);
}

class DamagedTransactions : public RowSums, public testing::WithParamInterface<Blow> {
 protected:
  /// A transaction that has made a step, and waits for its next one.
  TaskId begin() {
    auto id = add();
    auto lease = claim().claimed.at(0).lease;
    engine_.parts().transactions().step(
        Step{.lease = lease, .from = "placed", .to = "paid", .data = R"({"cents":100})"});
    Exchange back;
    back.settle.push_back({.lease = lease, .to = TaskState::pending, .attempt = 1});
    engine_.parts().tasks().exchange(back);
    return id;
  }
};

TEST_P(DamagedTransactions, AreKeptFromTheirNextStep) {
  auto id = begin();
  damage(std::string{"UPDATE holdfast_transactions SET "} + GetParam().sql);
  EXPECT_THAT(damaged(), ElementsAre(id));
  auto answer = claim();
  EXPECT_THAT(answer.claimed, IsEmpty());
  ASSERT_EQ(answer.damaged.size(), 1u);
  EXPECT_EQ(answer.damaged.front().task, id);
  EXPECT_EQ(record(id).state, TaskState::held);
  EXPECT_THAT(damaged(), IsEmpty()) << "a person was told";
  Inspector{engine_}.retry({});
  EXPECT_THAT(claim().claimed, IsEmpty()) << "nor when it is retried";
}

INSTANTIATE_TEST_SUITE_P(
    Each, DamagedTransactions,
    testing::Values(Blow{"State", "state = 'shipped'"}, Blow{"Data", R"(data = '{"cents":900}')"},
                    Blow{"Failures", "failures = 7"}, Blow{"Began", "began_at = 1"},
                    Blow{"Entered", "entered_at = 1"}, Blow{"Progressed", "progressed_at = 1"},
                    Blow{"Sum", "sum = sum + 1"}),
    [](const auto& blow) { return std::string{blow.param.name}; });

TEST_F(DamagedTransactions, ARowOfAnEarlierVersionHasNoSum) {
  begin();
  damage("UPDATE holdfast_transactions SET sum = 0");
  EXPECT_THAT(damaged(), IsEmpty());
  EXPECT_EQ(claim().claimed.size(), 1u);
}

TEST_F(DamagedTransactions, OneThatCameFromAnotherStoreHasASum) {
  auto id = begin();
  damage("DELETE FROM holdfast_transactions");
  TransactionParcel parcel{.id = id, .row = {.state = "paid", .data = "1"}};
  engine_.parts().transactions().adopt(std::span{&parcel, 1});
  damage("UPDATE holdfast_transactions SET data = '2'");
  EXPECT_THAT(damaged(), ElementsAre(id));
}

TEST_F(RowSums, DamageWaitsForAPerson) {
  auto hit = add();
  damage(R"(UPDATE holdfast_tasks SET payload = '{"amount":900}')");
  auto answer = claim();
  EXPECT_THAT(answer.claimed, IsEmpty());
  ASSERT_EQ(answer.damaged.size(), 1u);
  EXPECT_EQ(answer.damaged.front().task, hit);
  EXPECT_EQ(record(hit).state, TaskState::held);
  EXPECT_EQ(record(hit).cause, "damaged");
  EXPECT_EQ(record(hit).attempt, 0) << "nobody tried it";

  // Trying it again does not make the payload what it was.
  Inspector{engine_}.retry({.ids = {hit}});
  EXPECT_THAT(claim().claimed, IsEmpty());
  EXPECT_EQ(record(hit).state, TaskState::held);
}

TEST_F(RowSums, FinishedTasksDoNotComeBackByDamage) {
  auto done = add();
  auto claimed = claim().claimed;
  engine_.parts().tasks().exchange({.settle = {{.lease = claimed.front().lease, .attempt = 1}}});
  damage("UPDATE holdfast_tasks SET state = 0");
  EXPECT_THAT(damaged(), ElementsAre(done));
  EXPECT_THAT(claim().claimed, IsEmpty());
}

TEST_F(RowSums, AnIndexThatIsWrongLeadsNobodyToAFinishedTask) {
  auto finished = add();
  constexpr auto change_index =
      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, 'state = {}',"
      " 'state = {}') WHERE name = 'holdfast_ready'";
  damage(fmt::format(change_index, 0, 77));
  damage("UPDATE holdfast_tasks SET state = 2, row_sum = 0");
  damage(fmt::format(change_index, 77, 0));
  EXPECT_THAT(damaged(), IsEmpty());

  auto answer = claim();
  EXPECT_THAT(answer.claimed, IsEmpty());
  ASSERT_EQ(answer.damaged.size(), 1u);
  EXPECT_EQ(answer.damaged.front().kind, Damage::Kind::index);
  EXPECT_EQ(answer.damaged.front().task, finished);
  EXPECT_EQ(record(finished).state, TaskState::completed);
}

TEST_F(RowSums, WorkOfUnknownKindIsNotClaimed) {
  add();
  damage("UPDATE holdfast_lanes SET kind = 'b'");
  EXPECT_EQ(damaged().size(), 1u);
  EXPECT_THAT(claim().claimed, IsEmpty());
}

}  // namespace
}  // namespace holdfast::sqlite
