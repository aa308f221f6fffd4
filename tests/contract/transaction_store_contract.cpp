#include "contract/transaction_store_contract.hpp"

#include <gmock/gmock.h>

#include <holdfast/state_machine.hpp>

namespace holdfast::test {

using testing::ElementsAre;
using testing::IsEmpty;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransactionStoreContract);

Claimed TransactionStoreContract::taken_over(const Claimed& claimed, WorkerId worker) {
  die_and_be_buried(worker);
  Verdict verdict{.lease = claimed.lease, .reason = "its worker died", .cause = {}};
  if (!tasks().reclaim(std::span{&verdict, 1}, report())[0])
    throw std::runtime_error{"it could not be taken back"};
  return claim_one(enlist());
}

TEST_P(TransactionStoreContract, ThereIsNothingBeforeTheFirstStep) {
  auto id = insert("a");
  EXPECT_FALSE(row(id));
  EXPECT_FALSE(row(TaskId::make()));
  EXPECT_THAT(transactions().ledger(id), IsEmpty());
  EXPECT_THAT(transactions().outbox(id), IsEmpty());
  EXPECT_THAT(transactions().moves(id), IsEmpty());
}

TEST_P(TransactionStoreContract, StretchesOfLedgerAndMovesAreReadInOrder) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  ASSERT_TRUE(step(claimed, {}).accepted);
  // Names and numbers whose order as texts is another one.
  ASSERT_TRUE(step(claimed, {.record = {{"b", 10, "4"}, {"b", 9, "3"}, {"a", 2, "1"}}}).accepted);
  ASSERT_TRUE(step(claimed, {.record = {{"a", 11, "2"}, {"c", -1, "5"}}}).accepted);
  for (const auto* to : {"s1", "s2", "s3"}) ASSERT_TRUE(step(claimed, {.to = to}).accepted);
  reopen();
  const auto values = [&](Stretch stretch) {
    std::string text;
    for (const auto& line : transactions().ledger(id, stretch)) text += line.value;
    return text;
  };
  EXPECT_EQ(values({}), "12345");
  EXPECT_EQ(values({0, 2}), "12");
  EXPECT_EQ(values({2, 2}), "34");
  EXPECT_EQ(values({4, 9}), "5");
  EXPECT_EQ(values({5, 2}), "");
  EXPECT_EQ(values({.skip = 3}), "45");
  const auto states = [&](Stretch stretch) {
    std::vector<std::string> names;
    for (const auto& move : transactions().moves(id, stretch)) names.push_back(move.to);
    return names;
  };
  EXPECT_EQ(transactions().move_count(id), 3);
  EXPECT_THAT(states({.skip = 1}), ElementsAre("s2", "s3"));
  EXPECT_THAT(states({1, 1}), ElementsAre("s2"));
  EXPECT_THAT(states({2, 50}), ElementsAre("s3"));
  EXPECT_THAT(states({3, 50}), IsEmpty());
  EXPECT_EQ(transactions().move_count(TaskId::make()), 0);
}

TEST_P(TransactionStoreContract, AStepKeepsStateDataLedgerAndOutboxTogether) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  auto began = clock().wall();
  ASSERT_TRUE(step(claimed, {}).accepted);
  clock().advance(std::chrono::seconds{5});
  Step move{.to = "second",
            .reason = "a reason",
            .data = R"({"n":1})",
            .record = {{"parts", 1, "x"}, {"parts", 2, "y"}},
            .send = {{"out", std::string("b\0dy", 4), "m1", {{"h", "v"}}}, {"out", "", "m2", {}}}};
  auto stepped = step(claimed, move);
  EXPECT_TRUE(stepped.accepted);
  EXPECT_THAT(stepped.recorded, ElementsAre("x", "y"));
  reopen();
  auto now = row(id).value();
  EXPECT_EQ(now.state, "second");
  EXPECT_EQ(now.reason, "a reason");
  EXPECT_EQ(now.data, R"({"n":1})");
  EXPECT_EQ(now.began_at, began);
  EXPECT_EQ(now.entered_at, began + std::chrono::seconds{5});
  EXPECT_EQ(now.progressed_at, now.entered_at);
  EXPECT_THAT(transactions().ledger(id),
              ElementsAre(LedgerEntry{"parts", 1, "x"}, LedgerEntry{"parts", 2, "y"}));
  EXPECT_EQ(transactions().recorded(id, "parts", 2), "y");
  EXPECT_FALSE(transactions().recorded(id, "parts", 3));
  auto outbox = transactions().outbox(id);
  ASSERT_EQ(outbox.size(), 2u);
  EXPECT_EQ(outbox[0].message.body, std::string("b\0dy", 4));
  EXPECT_EQ(outbox[0].message.id, "m1");
  EXPECT_EQ(outbox[0].message.headers, (MessageHeaders{{"h", "v"}}));
  EXPECT_EQ(outbox[1].message.body, "");
  EXPECT_LT(outbox[0].number, outbox[1].number);
  auto moves = transactions().moves(id);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].from, "first");
  EXPECT_EQ(moves[0].to, "second");
  EXPECT_EQ(moves[0].token, claimed.lease.token);
}

TEST_P(TransactionStoreContract, AFormerHolderWritesNothing) {
  auto id = insert("a");
  auto first = enlist();
  auto stale = claim_one(first);
  ASSERT_TRUE(step(stale, {.to = "second"}).accepted);
  auto current = taken_over(stale, first);
  Step late{.to = "third",
            .data = "1",
            .error = "late",
            .forget_ledger = true,
            .record = {{"parts", 1, "late"}},
            .send = {{"out", "late", "m", {}}}};
  EXPECT_FALSE(step(stale, late).accepted);
  EXPECT_EQ(row(id)->state, "second");
  EXPECT_EQ(row(id)->failures, 0);
  EXPECT_THAT(transactions().ledger(id), IsEmpty());
  EXPECT_THAT(transactions().outbox(id), IsEmpty());
  EXPECT_GE(engine().reports().totals().stale_writes_refused, 1);
  EXPECT_TRUE(step(current, {.from = "second", .to = "third"}).accepted);
  complete(current);
  EXPECT_FALSE(step(current, {.to = "fourth"}).accepted) << "it has ended";
}

TEST_P(TransactionStoreContract, TheFirstLineOfTheLedgerStaysWhoeverComesLater) {
  auto id = insert("a");
  auto first = enlist();
  auto claimed = claim_one(first);
  EXPECT_THAT(step(claimed, {.record = {{"s", 1, "mine"}}}).recorded, ElementsAre("mine"));
  auto next = taken_over(claimed, first);
  EXPECT_THAT(
      step(next, {.record = {{"s", 1, "other"}, {"s", 2, "new"}, {"s", 2, "again"}}}).recorded,
      ElementsAre("mine", "new", "new"));
  EXPECT_EQ(transactions().ledger(id).size(), 2u);
  ASSERT_TRUE(step(next, {.forget_ledger = true, .record = {{"s", 3, "z"}}}).accepted);
  EXPECT_THAT(transactions().ledger(id), ElementsAre(LedgerEntry{"s", 3, "z"}));
}

TEST_P(TransactionStoreContract, LedgersAreInOrderOfNumbers) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  step(claimed, {.record = {{"b:c", 10, ""}, {"b:c", 9, ""}, {"a", 100, ""}, {"b:c", 2, ""}}});
  std::vector<std::pair<std::string, std::int64_t>> places;
  for (const auto& entry : transactions().ledger(id))
    places.emplace_back(entry.series, entry.ordinal);
  EXPECT_THAT(places, ElementsAre(std::pair{"a", 100}, std::pair{"b:c", 2}, std::pair{"b:c", 9},
                                  std::pair{"b:c", 10}));
}

TEST_P(TransactionStoreContract, OnlyNewLinesAndMovesAreProgress) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  step(claimed, {.record = {{"s", 1, "x"}}});
  auto progressed = row(id)->progressed_at;
  clock().advance(std::chrono::seconds{1});
  step(claimed, {.data = "2", .record = {{"s", 1, "x"}}});
  EXPECT_EQ(row(id)->progressed_at, progressed);
  EXPECT_EQ(row(id)->data, "2");
  step(claimed, {.record = {{"s", 2, "x"}}});
  EXPECT_GT(row(id)->progressed_at, progressed);
}

TEST_P(TransactionStoreContract, FailuresAreCountedUntilItMoves) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  step(claimed, {.error = "one"});
  step(claimed, {.error = "two"});
  EXPECT_EQ(row(id)->failures, 2);
  EXPECT_EQ(row(id)->error, "two");
  step(claimed, {.to = "second"});
  EXPECT_EQ(row(id)->failures, 0);
  EXPECT_EQ(row(id)->error, "");
}

TEST_P(TransactionStoreContract, TroubleIsSaidAndNotCounted) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  step(claimed, {.trouble = "away"});
  EXPECT_EQ(row(id)->failures, 0);
  EXPECT_EQ(row(id)->error, "away");
  step(claimed, {.data = "1"});
  EXPECT_EQ(row(id)->error, "away") << "until somebody says otherwise";
  step(claimed, {.trouble = ""});
  EXPECT_EQ(row(id)->error, "");
  step(claimed, {.trouble = "away again"});
  step(claimed, {.to = "second"});
  EXPECT_EQ(row(id)->error, "");
}

TEST_P(TransactionStoreContract, WhatWasSentLeavesTheOutboxOfItsOwnTransactionOnly) {
  auto id = insert("a");
  insert("a");
  auto claimed = claim(enlist(), 2);
  ASSERT_EQ(claimed.size(), 2u);
  ASSERT_EQ(claimed[0].lease.id, id);
  step(claimed[0], {.send = {{"out", "1", "m1", {}}, {"out", "2", "m2", {}}}});
  auto outbox = transactions().outbox(id);
  step(claimed[1], {.sent = {outbox[0].number}});
  EXPECT_EQ(transactions().outbox(id).size(), 2u);
  step(claimed[0], {.send = {{"out", "3", "m3", {}}}, .sent = {outbox[0].number}});
  auto left = transactions().outbox(id);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].message.id, "m2");
  EXPECT_EQ(left[1].message.id, "m3");
}

TEST_P(TransactionStoreContract, StepsAreAnsweredOneByOne) {
  insert("a");
  insert("a");
  auto claimed = claim(enlist(), 2);
  complete(claimed[0]);
  std::vector<Step> steps{{.lease = claimed[0].lease, .from = "first", .to = "late"},
                          {.lease = claimed[1].lease, .from = "first", .to = "second"}};
  auto answers = transactions().step(steps);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_FALSE(answers[0].accepted);
  EXPECT_TRUE(answers[1].accepted);
}

TEST_P(TransactionStoreContract, OnlyWhatNobodyHoldsIsPutBack) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  EXPECT_FALSE(transactions().put_back(id, {.to = "first", .reason = "again"}));
  step(claimed, {.to = "second"});
  EXPECT_FALSE(transactions().put_back(id, {.to = "first", .reason = "again"})) << "it runs";
  settle({.lease = claimed.lease, .to = TaskState::failed, .reason = "broken", .attempt = 1});
  EXPECT_TRUE(transactions().put_back(id, {.to = "first", .reason = "again"}));
  EXPECT_EQ(row(id)->state, "first");
  EXPECT_EQ(transactions().moves(id).size(), 2u);
}

TEST_P(TransactionStoreContract, WhatAnotherStoreHadTakesThePlaceOfWhatIsHere) {
  auto id = insert("a");
  auto at = clock().wall();
  TransactionParcel parcel{.id = id,
                           .row = {"third", "why", R"({"n":1})", "broke", 2, at - Millis{3},
                                   at - Millis{2}, at - Millis{1}},
                           .ledger = {{"parts", 1, "x"}, {"parts", 20, "y"}},
                           .outbox = {{"out", std::string("b\0dy", 4), "m1", {{"h", "v"}}}},
                           .moves = {{"first", "second", "", Token{5}, at - Millis{3}},
                                     {"second", "third", "why", Token{6}, at - Millis{2}}}};
  transactions().adopt(std::span{&parcel, 1});
  transactions().adopt(std::span{&parcel, 1});  // whoever died before he could tell comes again
  auto now = row(id).value();
  EXPECT_EQ(now.state, "third");
  EXPECT_EQ(now.reason, "why");
  EXPECT_EQ(now.data, R"({"n":1})");
  EXPECT_EQ(now.error, "broke");
  EXPECT_EQ(now.failures, 2);
  EXPECT_EQ(now.began_at, at - Millis{3});
  EXPECT_EQ(now.entered_at, at - Millis{2});
  EXPECT_EQ(now.progressed_at, at - Millis{1});
  EXPECT_EQ(transactions().ledger(id), parcel.ledger);
  ASSERT_EQ(transactions().outbox(id).size(), 1u);
  EXPECT_EQ(transactions().outbox(id)[0].message.body, parcel.outbox[0].body);
  auto moves = transactions().moves(id);
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[1].to, "third");
  EXPECT_EQ(moves[1].reason, "why");
  EXPECT_EQ(moves[1].token, Token{6});
  auto claimed = claim_one(enlist());
  ASSERT_TRUE(step(claimed, {.from = "third", .to = "fourth"}).accepted);
  transactions().adopt(std::span{&parcel, 1});
  EXPECT_EQ(row(id)->state, "fourth") << "it runs here by now";
}

TEST_P(TransactionStoreContract, StepsOfOneTransactionAreTakenInTheirOrder) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  std::vector<Step> steps{
      {.lease = claimed.lease, .from = "first", .to = "second", .record = {{"s", 1, "x"}}},
      {.lease = claimed.lease, .from = "second", .to = "third", .record = {{"s", 1, "y"}}}};
  auto answers = transactions().step(steps);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_THAT(answers[0].recorded, ElementsAre("x"));
  EXPECT_THAT(answers[1].recorded, ElementsAre("x"));
  EXPECT_EQ(row(id)->state, "third");
  EXPECT_EQ(transactions().moves(id).size(), 2u);
}

TEST_P(TransactionStoreContract, ListsAreNewestFirstWhateverTheirIdsAre) {
  std::vector<TaskId> expected;
  for (const auto* id : {"b", "c", "a", "d", "0"}) {
    expected.insert(expected.begin(), insert(transaction_kind, {.id = transaction_task(id)}));
    clock().advance(Millis{5});
  }
  auto listed = [&](TaskPage page) {
    std::vector<TaskId> ids;
    for (const auto& task : engine().admin().search({.kind = transaction_kind}, page))
      ids.push_back(task.id);
    return ids;
  };
  EXPECT_EQ(listed({}), expected);
  EXPECT_THAT(listed({.limit = 2, .offset = 1}), ElementsAre(expected[1], expected[2]));
  EXPECT_THAT(listed({.limit = 2, .after = expected[2]}), ElementsAre(expected[3], expected[4]));
  EXPECT_THAT(listed({.limit = 1, .newest_first = false, .after = expected[2]}),
              ElementsAre(expected[1]));
  EXPECT_THAT(listed({.limit = 1, .offset = 3, .after = TaskId::make()}), ElementsAre(expected[3]));
}

TEST_P(TransactionStoreContract, GoesWithItsTask) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  step(claimed, {.to = "second", .record = {{"s", 1, "x"}}, .send = {{"out", "1", "m1", {}}}});
  complete(claimed);
  clock().advance(std::chrono::hours{24 * 30});
  EXPECT_EQ(engine().admin().prune(Settings::Retention{}), 1);
  EXPECT_FALSE(row(id));
  EXPECT_THAT(transactions().ledger(id), IsEmpty());
  auto checked = engine().check_integrity(true, {});
  EXPECT_THAT(checked.damage, IsEmpty());
}

}  // namespace holdfast::test
