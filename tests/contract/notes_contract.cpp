#include <gmock/gmock.h>

#include <future>

#include "contract/task_store_contract.hpp"

namespace holdfast::test {

using std::chrono::seconds;
using testing::IsEmpty;

TEST_P(TaskStoreContract, NotesOfTheHolderAreKept) {
  auto id = insert("a");
  auto claimed = claim_one(enlist());
  EXPECT_TRUE(note(claimed, ProgressNote{0.25, "a quarter"}).accepted);
  EXPECT_TRUE(note(claimed, ProgressNote{0.5, "half"}).accepted);
  EXPECT_TRUE(note(claimed, LogNote{"first line", 1}).accepted);
  EXPECT_TRUE(note(claimed, LogNote{"second line", 1}).accepted);
  EXPECT_EQ(record(id).progress, 0.5);
  EXPECT_EQ(record(id).progress_text, "half");
  auto lines = engine().admin().logs(id);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].text, "first line");
  EXPECT_EQ(lines[0].attempt, 1);
  EXPECT_EQ(lines[0].at, clock().wall());
  EXPECT_EQ(lines[1].text, "second line");
}

TEST_P(TaskStoreContract, FirstValueOfAnEffectWinsWhoeverComesLater) {
  auto id = insert("a");
  auto first = enlist();
  auto claimed = claim_one(first);
  EXPECT_EQ(note(claimed, EffectNote{"charge", "17"}).value, "17");
  EXPECT_EQ(note(claimed, EffectNote{"charge", "18"}).value, "17");
  EXPECT_EQ(note(claimed, EffectNote{"mail", "x"}).value, "x");
  die_and_be_buried(first);
  Verdict verdict{.lease = claimed.lease, .reason = "its worker died", .cause = {}};
  ASSERT_TRUE(tasks().reclaim(std::span{&verdict, 1}, report())[0]);
  auto again = claim_one(enlist());
  ASSERT_EQ(again.lease.id, id);
  auto late = note(again, EffectNote{"charge", "19"});
  EXPECT_TRUE(late.accepted);
  EXPECT_EQ(late.value, "17");
}

TEST_P(TaskStoreContract, NotesOfAFormerHolderAreRefused) {
  auto id = insert("a");
  auto first = enlist();
  auto stale = claim_one(first);
  die_and_be_buried(first);
  Verdict verdict{.lease = stale.lease, .reason = "its worker died", .cause = {}};
  ASSERT_TRUE(tasks().reclaim(std::span{&verdict, 1}, report())[0]);
  auto check = [&] {
    EXPECT_FALSE(note(stale, ProgressNote{0.9, "nearly"}).accepted);
    EXPECT_FALSE(note(stale, LogNote{"late", 1}).accepted);
    EXPECT_FALSE(note(stale, EffectNote{"charge", "late"}).accepted);
    EXPECT_EQ(record(id).progress, 0);
    EXPECT_THAT(engine().admin().logs(id), IsEmpty());
  };
  check();
  auto current = claim_one(enlist());
  check();
  EXPECT_EQ(note(current, EffectNote{"charge", "first"}).value, "first");
  EXPECT_GE(engine().reports().totals().stale_writes_refused, 2);
}

TEST_P(TaskStoreContract, NotesAreAnsweredOneByOne) {
  insert("a");
  insert("a");
  auto claimed = claim(enlist(), 2);
  ASSERT_EQ(claimed.size(), 2u);
  complete(claimed[0]);
  std::vector<Note> notes{{claimed[0].lease, EffectNote{"k", "late"}},
                          {claimed[1].lease, EffectNote{"k", "v"}}};
  auto answers = tasks().record(notes);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_FALSE(answers[0].accepted);
  EXPECT_TRUE(answers[1].accepted);
  EXPECT_EQ(answers[1].value, "v");
}

TEST_P(TaskStoreContract, WaitingEndsWhenAnotherProcessInserts) {
  auto waiting = std::async(std::launch::async, [&] { return woken_by(Wake::work); });
  NewTask task{"a", "{}"};
  other().tasks().insert(std::span{&task, 1});
  EXPECT_TRUE(waiting.get());
}

TEST_P(TaskStoreContract, WaitingEndsWhenThisProcessInserts) {
  auto waiting = std::async(std::launch::async, [&] { return woken_by(Wake::work); });
  insert("a");
  EXPECT_TRUE(waiting.get());
}

TEST_P(TaskStoreContract, WaitingEndsWhenAnOperatorActs) {
  auto id = insert("a");
  claim_one(enlist());
  other();
  auto waiting = std::async(std::launch::async, [&] { return woken_by(Wake::control); });
  ask_to_stop(id);
  EXPECT_TRUE(waiting.get());
}

TEST_P(TaskStoreContract, WaitingEndsWhenItIsInterrupted) {
  auto waiting = std::async(std::launch::async,
                            [&] { return tasks().wait_for_work(std::chrono::minutes{5}); });
  auto deadline = std::chrono::steady_clock::now() + seconds{10};
  // The interrupt may come before the wait begins, so it is repeated until the wait is over.
  do {
    tasks().interrupt();
  } while (waiting.wait_for(Millis{5}) != std::future_status::ready &&
           std::chrono::steady_clock::now() < deadline);
  EXPECT_EQ(waiting.wait_for(Millis{0}), std::future_status::ready);
}

TEST_P(TaskStoreContract, WaitingEndsWhenTheTimeIsUp) {
  auto begin = std::chrono::steady_clock::now();
  while (tasks().wait_for_work(Millis{50}) != Wake::nothing) {
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds{10});
}

}  // namespace holdfast::test
