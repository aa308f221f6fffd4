#include "contract/ledger_contract.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {

using testing::ElementsAre;
using testing::IsEmpty;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LedgerContract);

TEST_P(LedgerContract, IsEmptyBeforeTheFirstLine) {
  auto id = insert("a");
  auto ledger = held(claim_one(enlist()));
  EXPECT_THAT(ledger.lines(), IsEmpty());
  EXPECT_FALSE(ledger.recorded("s", 1));
  EXPECT_THAT(lines(id), IsEmpty());
}

TEST_P(LedgerContract, WhatIsRecordedIsThereForEverybodyInOrder) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  auto ledger = held(claimed);
  const std::string odd = std::string("\x1f\n\"", 3) + "\xc3\xa4";
  auto first = ledger.record(writing(claimed, {{"b:c", 10, odd}, {"b:c", 9, ""}}));
  EXPECT_TRUE(first.accepted);
  EXPECT_THAT(first.recorded, ElementsAre(odd, ""));
  EXPECT_TRUE(ledger.record(writing(claimed, {{"a", 100, "x"}, {"b:c", -1, "y"}})).accepted);
  const Lines all{{"a", 100, "x"}, {"b:c", -1, "y"}, {"b:c", 9, ""}, {"b:c", 10, odd}};
  EXPECT_EQ(ledger.lines(), all);
  EXPECT_EQ(ledger.recorded("b:c", 10), odd);
  EXPECT_FALSE(ledger.recorded("b:c", 11));
  EXPECT_EQ(lines(id), all);
  reopen();
  EXPECT_EQ(lines(id), all);
}

TEST_P(LedgerContract, TheFirstLineStaysWhoeverComesLater) {
  auto id = insert("a");
  auto first = enlist();
  auto claimed = claim_one(first);
  EXPECT_THAT(record(claimed, {{"s", 1, "mine"}}).recorded, ElementsAre("mine"));
  auto next = taken_over(claimed, first);
  EXPECT_THAT(record(next, {{"s", 1, "other"}, {"s", 2, "new"}, {"s", 2, "again"}}).recorded,
              ElementsAre("mine", "new", "new"));
  EXPECT_THAT(lines(id), ElementsAre(LedgerEntry{"s", 1, "mine"}, LedgerEntry{"s", 2, "new"}));
}

TEST_P(LedgerContract, AFormerHolderWritesNothingOnceTheNextHasLooked) {
  auto id = insert("a");
  auto first = enlist();
  auto stale = claim_one(first);
  ASSERT_TRUE(record(stale, {{"s", 1, "x"}}).accepted);
  auto late = held(stale);
  ASSERT_EQ(late.lines().size(), 1u);
  auto current = taken_over(stale, first);
  EXPECT_EQ(held(current).lines().size(), 1u);
  auto refused = writing(stale, {{"s", 2, "late"}});
  refused.data = "1";
  EXPECT_FALSE(late.record(refused).accepted);
  EXPECT_FALSE(late.replace(refused).accepted);
  EXPECT_FALSE(late.forget(refused).accepted);
  EXPECT_THAT(lines(id), ElementsAre(LedgerEntry{"s", 1, "x"}));
  EXPECT_EQ(row(id)->data, "null");
  EXPECT_TRUE(record(current, {{"s", 2, "y"}}).accepted);
}

TEST_P(LedgerContract, AFormerHolderDoesNotBeginOne) {
  auto id = insert("a");
  auto first = enlist();
  auto stale = claim_one(first);
  taken_over(stale, first);
  EXPECT_FALSE(record(stale, {{"s", 1, "late"}}).accepted);
  EXPECT_THAT(lines(id), IsEmpty());
}

TEST_P(LedgerContract, BeginsOnceAlsoWhereTheFirstAnswerWasLost) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  auto first = held(claimed), again = held(claimed);
  EXPECT_THAT(again.lines(), IsEmpty());
  ASSERT_TRUE(first.record(writing(claimed, {{"s", 1, "x"}})).accepted);
  EXPECT_THAT(again.record(writing(claimed, {{"s", 1, "y"}, {"s", 2, "y"}})).recorded,
              ElementsAre("x", "y"));
  EXPECT_EQ(lines(id), (Lines{{"s", 1, "x"}, {"s", 2, "y"}}));
}

TEST_P(LedgerContract, ComesWithTheRestOfItsStep) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  auto ledger = held(claimed);
  for (int i : {1, 2}) {
    auto step = writing(claimed, {{"s", i, "x"}});
    step.data = std::to_string(i);
    step.send = {{"out", "body", "m", {}}};
    ASSERT_TRUE(ledger.record(step).accepted);
    EXPECT_EQ(row(id)->data, std::to_string(i));
    EXPECT_EQ(transactions().outbox(id).size(), static_cast<std::size_t>(i));
  }
}

TEST_P(LedgerContract, OnlyNewLinesAreProgress) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  auto ledger = held(claimed);
  ledger.record(writing(claimed, {{"s", 1, "x"}}));
  auto progressed = row(id)->progressed_at;
  clock().advance(std::chrono::seconds{1});
  ledger.record(writing(claimed, {{"s", 1, "x"}}));
  EXPECT_EQ(row(id)->progressed_at, progressed);
  ledger.record(writing(claimed, {{"s", 1, "x"}, {"s", 2, "x"}}));
  EXPECT_EQ(row(id)->progressed_at, progressed + std::chrono::seconds{1});
}

TEST_P(LedgerContract, ForgettingBeginsAnew) {
  auto id = insert("a");
  auto first = enlist();
  auto stale = claim_one(first);
  auto late = held(stale);
  late.record(writing(stale, {{"s", 1, "x"}}));
  auto current = taken_over(stale, first);
  auto ledger = held(current);
  ASSERT_TRUE(ledger.forget(writing(current, {})).accepted);
  EXPECT_THAT(ledger.lines(), IsEmpty());
  EXPECT_THAT(lines(id), IsEmpty());
  EXPECT_TRUE(ledger.record(writing(current, {{"s", 2, "y"}})).accepted);
  try {
    EXPECT_FALSE(late.record(writing(stale, {{"s", 1, "late"}})).accepted);
  } catch (const LedgerLost&) {
    // What it knew is not there any more: that is refusing, too.
  }
  EXPECT_THAT(lines(id), ElementsAre(LedgerEntry{"s", 2, "y"}));
}

TEST_P(LedgerContract, ReplacingPutsOtherLinesInThePlaceOfAll) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  auto ledger = held(claimed);
  ledger.record(writing(claimed, {{"s", 1, "x"}, {"s", 2, "y"}}));
  auto replaced = ledger.replace(writing(claimed, {{"s", 2, "other"}}));
  EXPECT_TRUE(replaced.accepted);
  EXPECT_THAT(replaced.recorded, ElementsAre("other"));
  EXPECT_THAT(ledger.lines(), ElementsAre(LedgerEntry{"s", 2, "other"}));
  ledger.record(writing(claimed, {{"s", 3, "z"}}));
  EXPECT_EQ(lines(id).size(), 2u);
}

TEST_P(LedgerContract, OneThatStartsOverHasNone) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  record(claimed, {{"s", 1, "x"}});
  settle({.lease = claimed.lease, .to = TaskState::failed, .reason = "broken", .attempt = 1});
  ASSERT_TRUE(transactions().put_back(id, {.to = "first", .forget_ledger = true}));
  EXPECT_THAT(lines(id), IsEmpty());
}

}  // namespace holdfast::test
