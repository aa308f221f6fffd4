#include "contract/reports_contract.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {

using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ReportsContract);

RecoveryReport ReportsContract::last_words() const {
  RecoveryReport end;
  end.started_at = report().started_at;
  end.completed_at = report().started_at + seconds{3};
  end.duration = seconds{3};
  end.trigger = report().trigger;
  end.action = report().action;
  return end;
}

std::vector<Orphan> ReportsContract::make_orphans(int count) {
  auto worker = enlist();
  for (int i = 0; i < count; ++i) insert("a", {.max_attempts = 7});
  claim(worker, count);
  die_and_be_buried(worker);
  return tasks().orphans(count);
}

TEST_P(ReportsContract, EveryStepIsInTheReportFromItsCommitOn) {
  auto hold = reports().hold(report().id);
  auto orphans = make_orphans(2);
  ASSERT_THAT(orphans, SizeIs(2));
  auto begun = other().reports().newest(10, 10);
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].id, report().id);
  EXPECT_EQ(begun[0].state, ReportState::running);
  EXPECT_EQ(begun[0].trigger, "test");
  ASSERT_THAT(begun[0].dead_workers, SizeIs(1));
  EXPECT_EQ(begun[0].dead_workers[0].id, orphans[0].worker);
  EXPECT_THAT(begun[0].tasks, IsEmpty());

  clock().advance(seconds{2});
  auto verdict = put_back(orphans[0]);
  verdict.to = TaskState::failed;
  ASSERT_TRUE(reclaim(verdict));
  auto grown = other().reports().newest(10, 10).at(0);
  ASSERT_THAT(grown.tasks, SizeIs(1));
  const auto& entry = grown.tasks[0];
  EXPECT_EQ(entry.id, orphans[0].lease.id);
  EXPECT_EQ(entry.now, TaskState::failed);
  EXPECT_EQ(entry.attempt, 1);
  EXPECT_EQ(entry.max_attempts, 7);
  EXPECT_EQ(entry.worker, orphans[0].worker);
  EXPECT_EQ(entry.reason, "its worker died");
  EXPECT_TRUE(entry.success);
  EXPECT_EQ(grown.orphans.failed, 1);
  EXPECT_EQ(grown.duration, seconds{2}) << "until its last commit";
}

TEST_P(ReportsContract, WhatWasNotTakenIsNotInTheReport) {
  auto orphans = make_orphans(1);
  auto verdict = put_back(orphans[0]);
  ASSERT_TRUE(reclaim(verdict));
  ASSERT_FALSE(reclaim(verdict));
  EXPECT_EQ(all().at(0).orphans.all(), 1);
  EXPECT_THAT(all().at(0).tasks, SizeIs(1));
}

TEST_P(ReportsContract, IncompleteOneThatNobodyHoldsWasInterrupted) {
  {
    auto hold = reports().hold(report().id);
    make_orphans(1);
    EXPECT_EQ(reports().newest(1, 1).at(0).state, ReportState::running);
    EXPECT_EQ(other().reports().newest(1, 1).at(0).state, ReportState::running);
  }
  EXPECT_EQ(reports().newest(1, 1).at(0).state, ReportState::interrupted);
  EXPECT_EQ(other().reports().newest(1, 1).at(0).state, ReportState::interrupted);
}

TEST_P(ReportsContract, CompletedOneSaysWhatOnlyItsRunKnew) {
  auto orphans = make_orphans(2);
  ASSERT_TRUE(reclaim(put_back(orphans[0])));
  auto end = last_words();
  end.start_up.emplace().unclean = true;
  end.errors = {"it rained"};
  RecoveredTask failure;
  failure.id = orphans[1].lease.id;
  failure.now = TaskState::running;
  failure.success = false;
  failure.error = "no room";
  end.add(failure);
  auto returned = reports().complete(report(), end);
  auto stored = other().reports().newest(1, 10).at(0);
  EXPECT_EQ(to_json(returned), to_json(stored));
  EXPECT_EQ(stored.state, ReportState::complete);
  EXPECT_EQ(stored.duration, seconds{3});
  EXPECT_EQ(stored.completed_at, end.completed_at);
  EXPECT_TRUE(stored.start_up && stored.start_up->unclean);
  EXPECT_EQ(stored.errors, end.errors);
  ASSERT_THAT(stored.tasks, SizeIs(2));
  EXPECT_FALSE(stored.tasks[1].success);
  EXPECT_EQ(stored.tasks[1].error, "no room");
  EXPECT_EQ(stored.orphans.pending, 1);
  EXPECT_EQ(stored.orphans.not_taken, 1);
}

TEST_P(ReportsContract, FailureThatOnlyLookedLikeOneIsLeftOut) {
  auto orphans = make_orphans(1);
  ASSERT_TRUE(reclaim(put_back(orphans[0])));
  auto end = last_words();
  RecoveredTask failure;
  failure.id = orphans[0].lease.id;
  failure.success = false;
  failure.error = "the reply was lost";
  end.add(failure);
  auto report_now = reports().complete(report(), end);
  ASSERT_THAT(report_now.tasks, SizeIs(1));
  EXPECT_TRUE(report_now.tasks[0].success);
  EXPECT_EQ(report_now.orphans.not_taken, 0);
}

TEST_P(ReportsContract, CanBeReadInPartAndStillCountsEverything) {
  auto orphans = make_orphans(5);
  for (const auto& orphan : orphans) ASSERT_TRUE(reclaim(put_back(orphan)));
  auto part = reports().newest(1, 2).at(0);
  EXPECT_THAT(part.tasks, SizeIs(2));
  EXPECT_EQ(part.orphans.pending, 5);
  EXPECT_THAT(reports().newest(1, 0).at(0).tasks, IsEmpty());
}

TEST_P(ReportsContract, OldOnesAreShedAndStayInTheTotals) {
  constexpr int many = 520;
  auto orphans = make_orphans(1);
  ASSERT_TRUE(reclaim(put_back(orphans[0])));
  reports().complete(report(), last_words());
  // So many commits take long on a disk.
  Settings settings;
  settings.durability = Durability::crash_safe;
  auto quick = open_with(settings);
  for (int i = 1; i < many; ++i) {
    ReportHead head{ReportId::make(), clock().wall(), "test"};
    quick->reports().complete(head, last_words());
  }
  auto kept = all();
  EXPECT_LT(kept.size(), static_cast<std::size_t>(many));
  EXPECT_GE(kept.size(), 100u);
  for (const auto& each : kept) EXPECT_NE(each.id, report().id) << "the oldest goes first";
  auto totals = reports().totals();
  EXPECT_EQ(totals.recoveries, many);
  EXPECT_EQ(totals.orphans.pending, 1);
  EXPECT_EQ(totals.dead_workers, 1);
}

TEST_P(ReportsContract, OldOnesAreShedWhereAllHaveTooManyEntries) {
  constexpr int each = report_entries_kept / 3 + 1;
  auto end = last_words();
  for (int i = 0; i < each; ++i) {
    RecoveredTask entry;
    entry.id = TaskId::make();
    entry.success = false;
    entry.error = "full";
    end.tasks.push_back(entry);
  }
  Settings settings;
  settings.durability = Durability::crash_safe;
  auto quick = open_with(settings);
  std::vector<ReportId> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(ReportId::make());
    quick->reports().complete({ids.back(), clock().wall(), "test"}, end);
  }
  std::vector<ReportId> kept;
  for (const auto& report : reports().newest(10, 0)) kept.push_back(report.id);
  EXPECT_THAT(kept, testing::ElementsAre(ids[2], ids[1]));
  EXPECT_EQ(reports().totals().orphans.not_taken, 3 * each);
}

TEST_P(ReportsContract, CountStaleWritesSinceTheReportBefore) {
  auto worker = enlist();
  insert("a");
  auto claimed = claim_one(worker);
  die_and_be_buried(worker);
  ASSERT_TRUE(reclaim(put_back(only_orphan())));
  ASSERT_EQ(complete(claimed), Settled::refused);
  auto first = reports().complete(report(), last_words());
  EXPECT_EQ(first.stale_writes_refused, 1);
  ASSERT_EQ(complete(claimed), Settled::refused);
  ASSERT_EQ(complete(claimed), Settled::refused);
  ReportHead head{ReportId::make(), clock().wall(), "test"};
  auto second = reports().complete(head, last_words());
  EXPECT_EQ(second.stale_writes_refused, 2);
  EXPECT_EQ(second.stale_writes_refused_ever, 3);
}

TEST_P(ReportsContract, OrphansCanBeListedAsIfSomebodyWereBuried) {
  auto worker = enlist(), living = enlist();
  auto id = insert("a");
  claim_one(worker);
  insert("a");
  claim_one(living);
  EXPECT_THAT(tasks().orphans(10), IsEmpty());
  std::vector<WorkerId> presumed{worker};
  auto orphans = tasks().orphans(10, presumed);
  ASSERT_THAT(orphans, SizeIs(1));
  EXPECT_EQ(orphans[0].lease.id, id);
  EXPECT_FALSE(orphans[0].expired);
  EXPECT_THAT(tasks().orphans(10), IsEmpty()) << "asking changes nothing";
}

}  // namespace holdfast::test
